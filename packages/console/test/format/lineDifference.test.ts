import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { folded, lineDifference } from "../../src/format/lineDifference.ts"

const SIGNS = { same: " ", added: "+", removed: "-" } as const

const drawn = (before: string, after: string): ReadonlyArray<string> =>
  folded(lineDifference(before, after)).map((line) =>
    typeof line === "number" ? `… ${line}` : `${SIGNS[line.kind]}${line.text}`,
  )

const text = fc
  .array(fc.constantFrom("a", "b", "c", "- x", ""), { maxLength: 12 })
  .map((lines) => lines.map((line) => `${line}\n`).join(""))

describe("the difference of two texts", () => {
  it("keeps what is equal, and folds it away from changes", () => {
    const lines = Array.from({ length: 12 }, (_, place) => `line ${place}\n`)
    const after = lines.with(6, "other\n")
    assert.deepStrictEqual(drawn(lines.join(""), after.join("")), [
      "… 3",
      ...[3, 4, 5].map((place) => ` line ${place}`),
      "-line 6",
      "+other",
      ...[7, 8, 9].map((place) => ` line ${place}`),
      "… 2",
    ])
    assert.deepStrictEqual(drawn("a\nb\n", "a\nb"), ["… 2"])
    assert.deepStrictEqual(drawn("", "a\n"), ["+a"])
  })

  it("finds a line that moved among others as few changes", () => {
    assert.deepStrictEqual(drawn("a\nb\nc\nd\n", "b\nc\na\nd\n"), ["-a", " b", " c", "+a", " d"])
  })

  it("leads from either text to the other", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDifference(before, after)
        const of = (kind: "added" | "removed") =>
          lines.filter((line) => line.kind === "same" || line.kind === kind).map((line) => `${line.text}\n`)
        assert.strictEqual(of("removed").join(""), before)
        assert.strictEqual(of("added").join(""), after)
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  it("shows two long texts without much in common one after the other", () => {
    const long = (word: string) => Array.from({ length: 3_000 }, (_, place) => `${word} ${place}`).join("\n")
    const kinds = lineDifference(long("old"), long("new")).map(({ kind }) => kind)
    assert.strictEqual(kinds.lastIndexOf("removed"), 2_999)
    assert.strictEqual(kinds.indexOf("added"), 3_000)
  })
})

import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { messagesIn } from "./messagesIn.ts"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tocsin-messages-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The messages of a module, place by place. */
const said = (source: string): ReadonlyArray<ReadonlyArray<string>> => {
  const file = join(folder, "module.ts")
  writeFileSync(file, source)
  return messagesIn(file).map(({ wordings }) => wordings)
}

describe("the messages of a module", () => {
  it.each([
    ["a text", 'new Failure({ message: "it is full" })', ["it is full"]],
    ["a template", "new Failure({ message: `${file} is full: ${done} of ${total}` })", ["… is full: … of …"]],
    ["a sum", 'refusal("it is full: " + `make ${some} room`)', ["it is full: make … room"]],
    ["a choice", 'usageFailure(x ? "name a file" : "name one file")', ["name a file", "name one file"]],
    ["a constant", 'const NEXT = "make room"\nrefusal(`it is full: ${NEXT}`)', ["it is full: make room"]],
    ["the end of a sentence", 'Result.fail("must be a number")', ["… must be a number"]],
    ["the expected value", '({ expected: "a number" })', ["… must be a number"]],
  ])("is found in %s", (_, source, wordings) => {
    assert.deepStrictEqual(said(source).flat(), wordings)
  })

  it("include every entry of a table", () => {
    const table = "const ADVICE = { full: (file: string) => `${file} is full`, gone: () => `it is gone` }"
    const use = "new Failure({ message: ADVICE[reason](file) })"
    assert.deepStrictEqual(said(`${table}\n${use}`), [
      ["… is full", "it is gone"],
      ["… is full", "it is gone"],
    ])
  })

  it("include a constant of another file", () => {
    writeFileSync(join(folder, "words.ts"), 'export const NEXT = "make room"')
    const source = 'import { NEXT } from "./words.ts"\nrefusal(`it is full: ${NEXT}`)'
    assert.deepStrictEqual(said(source), [["it is full: make room"]])
  })

  it("include the nearest constant of a name", () => {
    const first = 'const a = () => { const text = "one disk"; return refusal(`${text} is full`) }'
    const second = 'const b = () => { const text = "two disks"; return refusal(`${text} are full`) }'
    assert.deepStrictEqual(said(`${first}\n${second}`), [["one disk is full"], ["two disks are full"]])
  })

  it("exclude messages that are passed on, unlike other values", () => {
    const file = join(folder, "module.ts")
    writeFileSync(file, "const refuse = (message: string) => new Failure({ message })\nResult.fail(cause)")
    assert.deepStrictEqual(
      messagesIn(file).map(({ code, wordings, isCertain }) => [code, wordings.length, isCertain]),
      [
        ["message", 0, true],
        ["cause", 0, false],
      ],
    )
  })
})

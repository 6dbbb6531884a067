import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { readChanges } from "../../src/state/revisions.ts"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

const event = fc.oneof(
  fc.constant({ text: ": still here\n\n", topics: [] as ReadonlyArray<string> }),
  fc.uniqueArray(fc.constantFrom("incidents", "outbox", "agents"), { minLength: 1 }).map((topics) => ({
    text: `event: change\ndata: ${JSON.stringify({ topics, at: "2026-01-01T00:00:00Z" })}\n\n`,
    topics,
  })),
)

describe("the service's stream", () => {
  it("is read the same wherever it is cut, with either line end", () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 8 }),
        fc.array(fc.nat(40)),
        fc.boolean(),
        (events, cuts, isWindows) => {
          const whole = events.map(({ text }) => (isWindows ? text.replaceAll("\n", "\r\n") : text)).join("")
          const found: Array<ReadonlyArray<string>> = []
          let rest = ""
          let from = 0
          for (const length of [...cuts, whole.length]) {
            const read = readChanges(rest + whole.slice(from, from + length))
            found.push(...read.changes)
            rest = read.rest
            from += length
          }
          assert.deepStrictEqual(
            found,
            events.map(({ topics }) => topics),
          )
        },
      ),
    )
  })

  it("takes any text, and finds no topic in what is not an event of the service", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (text) => {
        const { changes } = readChanges(`data: ${text.replaceAll(/[\r\n]/g, "")}\n\n`)
        return changes.every((topics) => topics.every((topic) => typeof topic === "string"))
      }),
    )
  })
})

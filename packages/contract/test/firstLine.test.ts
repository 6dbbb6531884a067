import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { firstLine } from "../src/Text.ts"

/** The first line of a text, and the number of characters split off for it. */
const counted = (output: string): { readonly line: string | undefined; readonly characters: number } => {
  const steps: { next: () => unknown } = Object.getPrototypeOf(""[Symbol.iterator]())
  const { next } = steps
  let characters = 0
  steps.next = function (this: unknown) {
    characters += 1
    return next.call(this)
  }
  try {
    return { line: firstLine(output), characters }
  } finally {
    steps.next = next
  }
}

describe("the first line of an output", () => {
  it("has at most 512 characters, each of them whole", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\n", "\r"), maxLength: 1_200 })
    const long = fc.string({ unit: fc.constantFrom("a", "é", "😀"), minLength: 500, maxLength: 1_200 })
    fc.assert(
      fc.property(fc.oneof(text, long), (output) => {
        const [line = ""] = output.split(/[\r\n]/)
        const kept = Array.from(line).slice(0, 512).join("")
        assert.strictEqual(firstLine(output), kept === "" ? undefined : kept)
      }),
      { numRuns: 200 },
    )
  })

  it.each(["a", "😀"])("of %s splits off no more characters than it may keep", (character) => {
    const { line, characters } = counted(character.repeat(8_192))
    assert.strictEqual(line, character.repeat(512))
    assert.isAtMost(characters, 2 * 512 + 1)
  })
})

import { assert, it } from "@effect/vitest"
import fc from "fast-check"
import { fitting } from "../../src/agent/ResultQueue.ts"

it("a batch has at most the bytes of a request, whatever the characters, and at least one result", () => {
  const body = fc.string({ unit: fc.constantFrom("a", "é", "€", "\u{1F6A8}"), maxLength: 20 })
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 10 }), fc.nat(200), (bodies, maxBytes) => {
      const taken = fitting(
        bodies.map((text, n) => ({ id: String(n), checkId: "disk", body: text })),
        maxBytes,
      )
      const bytesOf = (texts: ReadonlyArray<string>) => Buffer.byteLength(texts.join(",")) + 1
      assert.isNotEmpty(taken)
      if (taken.length > 1) assert.isAtMost(bytesOf(bodies.slice(0, taken.length)), maxBytes)
      if (taken.length < bodies.length) assert.isAbove(bytesOf(bodies.slice(0, taken.length + 1)), maxBytes)
    }),
  )
})

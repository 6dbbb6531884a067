import { assert, it } from "@effect/vitest"
import { encodingInPlace } from "../../../src/features/export/ExportHandlers.ts"

const linesOf = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => ({ n, output: "\u00e9".repeat(length) }))

const textOf = (parts: ReadonlyArray<Uint8Array>): string => Buffer.concat(parts).toString()

it("pieces are encoded in one place once the former is written, else elsewhere", () => {
  let isWritten = true
  const encode = encodingInPlace(() => isWritten)
  const place = encode(linesOf(200, 4_000))[0]?.buffer
  for (const [count, length] of [
    [200, 4_000],
    [1, 1],
    [100, 300],
  ] as const) {
    const lines = linesOf(count, length)
    const parts = encode(lines)
    assert.strictEqual(textOf(parts), lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
    assert.isTrue(parts.every(({ buffer }) => buffer === place))
    // A socket takes no other part before it has written one of these.
    if (count > 1) assert.isTrue(parts.every((part) => part.length >= 60_000))
  }
  const kept = encode(linesOf(1, 1))
  isWritten = false
  assert.notStrictEqual(encode(linesOf(1, 2))[0]?.buffer, place)
  assert.strictEqual(textOf(kept), '{"n":0,"output":"\u00e9"}\n')
})

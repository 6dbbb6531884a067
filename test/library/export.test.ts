import { assert, describe, it } from "@effect/vitest"
import { isTocsinError } from "tocsin"
import { createTestMonitor } from "tocsin/testing"
import { enroll, resultOf, send } from "./requests.ts"

const collect = async <A>(items: AsyncIterable<A>) => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

const span = { kind: "history", from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" } as const

describe("export", () => {
  it("gives rows, then a cursor that goes on behind them", async () => {
    await using monitor = await createTestMonitor()
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    const lines = await collect(monitor.export(span))
    assert.lengthOf(lines, 2)
    const [row, last] = lines
    assert.isTrue(row !== undefined && "status" in row && row.status === "critical")
    const cursor = last !== undefined && "cursor" in last ? last.cursor : ""
    assert.deepStrictEqual(last, { cursor, end: true })
    await send(monitor, "a", resultOf("ok"))
    assert.lengthOf(await collect(monitor.export({ ...span, cursor })), 2)
  })

  it("is refused as by the API, and gives its place back", async () => {
    await using monitor = await createTestMonitor()
    const code = async (reading: Promise<unknown>) => {
      const error = await reading.catch((reason: unknown) => reason)
      return isTocsinError(error) ? error.code : error
    }
    const wrong = { ...span, to: "1999-01-01T00:00:00Z" }
    assert.strictEqual(await code(monitor.export(wrong).next()), "validation")
    const [one, two] = [monitor.export(span), monitor.export(span)]
    await Promise.all([one.next(), two.next()])
    assert.strictEqual(await code(monitor.export(span).next()), "rate_limited")
    await one.return?.()
    assert.lengthOf(await collect(monitor.export(span)), 1)
  })
})

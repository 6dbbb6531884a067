import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { createMonitor, memory, type Monitor, sqlite } from "tocsin"
import { createTestMonitor } from "tocsin/testing"
import { enroll, resultOf, send } from "./requests.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-numbers-"))
afterAll(() => rmSync(folder, { recursive: true }))

const check = { agent_id: "a", check_id: "disk" }
const STEP = 300_000
const start = Math.floor(Date.now() / STEP) * STEP - STEP
const instant = (second: number): string => new Date(start + second * 1_000).toISOString()

const measure = (monitor: Monitor, second: number, output: string, more: object = {}) =>
  send(monitor, "a", { ...resultOf("ok"), output, observed_at: instant(second), ...more })

const bounds = { warn: null, crit: null, min: null, max: null }

describe("numbers over time (docs/rules.md#numbers)", () => {
  it("of results are read before they are written, and after a restart", async () => {
    const storage = sqlite(join(folder, "tocsin.db"))
    const span = { at: instant(0), count: 2, min: 80, max: 82, mean: 81, last: 82 }
    const used = { name: "used", unit: "%" }
    {
      // Another process keeps house.
      await using monitor = await createMonitor({ log: false, storage, housekeeping: false })
      await enroll(monitor, "a")
      await measure(monitor, 10, "OK | used=80%;90;95;0;100 io=100c", { duration_ms: 40 })
      await measure(monitor, 20, "OK | used=82%;90;95;0;100 io=150c")
      // A result that is late.
      await measure(monitor, 15, "OK | used=1%")
      const { items } = await monitor.numbers.series(check)
      assert.deepStrictEqual(
        items.map(({ last_at: _, ...series }) => series),
        [
          { ...bounds, name: "duration", unit: "s", last: 0.001 },
          { ...bounds, name: "io", unit: "/s", last: 5 },
          { ...used, last: 82, warn: "90", crit: "95", min: "0", max: "100" },
        ],
      )
      const read = await monitor.numbers.read({ ...check, name: "used" })
      assert.deepStrictEqual(read, { step: "5m", series: [{ ...used, spans: [span] }] })
    }
    await using monitor = await createMonitor({ log: false, storage })
    const again = await monitor.numbers.read({ ...check, name: "used" })
    assert.deepStrictEqual(again, { step: "5m", series: [{ ...used, spans: [span] }] })
    const days = await monitor.numbers.read({ ...check, name: "used", step: "1d" })
    const at = `${span.at.slice(0, 10)}T00:00:00.000Z`
    assert.deepStrictEqual(days, { step: "1d", series: [{ ...used, spans: [{ ...span, at }] }] })
  })

  it("are of a check that is there, and of a time that is not too long", async () => {
    await using monitor = await createMonitor({ log: false, storage: memory() })
    await enroll(monitor, "a")
    const failureOf = async (answer: PromiseLike<unknown>) => {
      try {
        return await answer
      } catch (error) {
        const { code, message } = error as { readonly code?: string; readonly message?: string }
        return `${code}: ${message}`
      }
    }
    const missing =
      "not_found: this agent has no such check; list its checks with monitor.checks.list({ agent_id })"
    assert.strictEqual(await failureOf(monitor.numbers.series(check)), missing)
    assert.strictEqual(await failureOf(monitor.numbers.read(check)), missing)
    await measure(monitor, 1, "OK | used=1%")
    const long = { ...check, step: "5m" as const, from: "2020-01-01T00:00:00Z" }
    assert.match(String(await failureOf(monitor.numbers.read(long))), /^validation: /)
    const short = { ...check, from: "2026-01-01T00:00:00.000100Z", to: "2026-01-01T00:00:00.000900Z" }
    const tooShort = "validation: from must be before to, by a millisecond or more"
    assert.strictEqual(await failureOf(monitor.numbers.read(short)), tooShort)
  })

  it("are kept as long as retention.numbers says", async () => {
    await using monitor = await createTestMonitor({ retention: { numbers: "4d" }, deadAfter: "9d" })
    await enroll(monitor, "a")
    const began = monitor.now()
    await send(monitor, "a", { ...resultOf("ok"), output: "OK | used=1%", observed_at: began })
    const hours = async () => {
      const { items } = await monitor.numbers.series(check)
      if (items.length === 0) return 0
      const { series } = await monitor.numbers.read({ ...check, name: "used", step: "1h", from: began })
      return series.flatMap(({ spans }) => spans).length
    }
    await monitor.advance("3d")
    assert.strictEqual(await hours(), 1)
    await monitor.advance("4d")
    assert.strictEqual(await hours(), 0)
  })
})

import { afterEach, assert, it, vi } from "@effect/vitest"
import { createTestMonitor } from "tocsin/testing"

afterEach(() => void vi.useRealTimers())

it("a test monitor works, sends and closes where the test fakes timers", async () => {
  vi.useFakeTimers()
  await using monitor = await createTestMonitor()
  const shop = await monitor.agent("shop")
  shop.report("orders", "critical", "no order for an hour")
  await monitor.advance("1m")
  assert.strictEqual(monitor.now(), "2026-01-01T00:01:00.000Z")
  assert.deepStrictEqual(
    monitor.notifications.map(({ event_type }) => event_type),
    ["firing"],
  )
})

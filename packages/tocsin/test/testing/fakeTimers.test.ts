import { afterEach, assert, it, vi } from "@effect/vitest"
import { createTestMonitor } from "tocsin/testing"

afterEach(() => void vi.useRealTimers())

it("createTestMonitor works where the test fakes setImmediate", { timeout: 10_000 }, async () => {
  vi.useFakeTimers({ toFake: ["setImmediate"] })
  await using monitor = await createTestMonitor()
  await monitor.advance("1 minute")
  assert.strictEqual(monitor.now(), "2026-01-01T00:01:00.000Z")
})

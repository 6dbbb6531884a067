import { assert, it } from "@effect/vitest"
import { createTestMonitor } from "tocsin/testing"

it("a test monitor closes though a receiver never answers", async () => {
  const monitor = await createTestMonitor({
    notifiers: [{ name: "pager", send: () => new Promise(() => {}) }],
  })
  const shop = await monitor.agent("shop")
  shop.report("orders", "critical", "no order for an hour")
  await monitor.settle()
  await monitor.close()
  assert.strictEqual(await monitor.isReady(), false)
})

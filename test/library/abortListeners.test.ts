import { getEventListeners } from "node:events"
import { assert, it } from "@effect/vitest"
import { createMonitor, memory } from "tocsin"

/** How many listeners a signal holds on to. */
const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length

it("a signal that outlives its subscriptions keeps none of their listeners, however they end", async () => {
  const { signal } = new AbortController()
  const monitor = await createMonitor({ storage: memory(), log: false, notifiers: [] })
  const returned = monitor.incidentChanges({ signal })
  const left = monitor.incidentChanges({ signal })
  const open = monitor.incidentChanges({ signal })
  assert.strictEqual(listeners(signal), 3)
  await returned.return?.()
  assert.strictEqual(listeners(signal), 2)
  const waiting = left.next()
  await left.return?.()
  await waiting
  assert.strictEqual(listeners(signal), 1)
  const last = open.next()
  await monitor.close()
  assert.deepStrictEqual(await last, { done: true, value: undefined })
  assert.strictEqual(listeners(signal), 0)
})

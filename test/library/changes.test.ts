import { getEventListeners } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import { topicNames } from "@tocsin/contract/liveViews/topicNames"
import { isTocsinError } from "tocsin"
import { createTestMonitor } from "tocsin/testing"
import { enroll, resultOf, send } from "./requests.ts"

const MOST = 100
const ENDED = { done: true, value: undefined } as const

describe("changes", () => {
  it("name every topic first, then what has changed since the item before", async () => {
    await using monitor = await createTestMonitor()
    await enroll(monitor, "a")
    await monitor.advance("5s")
    const changes = monitor.changes()
    const first = await changes.next()
    assert.deepStrictEqual(first.value, { topics: topicNames, at: monitor.now() })

    const waiting = changes.next()
    await monitor.operators.create({ name: "ann", role: "read" })
    assert.deepStrictEqual((await waiting).value, { topics: ["operators", "audit"], at: monitor.now() })

    await send(monitor, "a", resultOf("critical"))
    await monitor.operators.remove("ann")
    await monitor.advance("1s")
    const gathered = await changes.next()
    assert.deepStrictEqual(gathered.value?.topics, ["checks", "incidents", "outbox", "operators", "audit"])
  })

  it("end by their signal, by return and with the monitor, and keep no listener", async () => {
    const monitor = await createTestMonitor()
    const controller = new AbortController()
    const { signal } = controller
    const begin = async () => {
      const changes = monitor.changes({ signal })
      await changes.next()
      return { changes, waiting: changes.next() }
    }
    const left = await begin()
    await left.changes.return?.()
    assert.deepStrictEqual(await left.waiting, ENDED)
    assert.lengthOf(getEventListeners(signal, "abort"), 0)

    const aborted = await begin()
    controller.abort()
    assert.deepStrictEqual(await aborted.waiting, ENDED)
    assert.deepStrictEqual(await aborted.changes.next(), ENDED)
    assert.deepStrictEqual(await monitor.changes({ signal }).next(), ENDED)

    const closing = monitor.changes()
    await closing.next()
    const last = closing.next()
    const unread = monitor.changes()
    await monitor.close()
    assert.deepStrictEqual(await last, ENDED)
    assert.deepStrictEqual(await unread.next(), ENDED)
  })

  it("are at most 100 in a process, and give their place back", async () => {
    await using monitor = await createTestMonitor()
    const open = Array.from({ length: MOST }, () => monitor.changes())
    for (const changes of open) await changes.next()
    const refused = monitor.changes()
    const error = await refused.next().catch((reason: unknown) => reason)
    assert.isTrue(isTocsinError(error))
    assert.deepInclude(error, { code: "rate_limited", retryAfterSeconds: 15 })
    assert.deepStrictEqual(await refused.next(), ENDED)
    for (const changes of open.slice(1)) await changes.return?.()
    for (let n = 0; n < MOST - 1; n += 1) assert.isFalse((await monitor.changes().next()).done)
  })
})

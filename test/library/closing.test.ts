import { getEventListeners, once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  createMonitor,
  type IncidentNews,
  keyValue,
  type KeyValueStore,
  type LogEntry,
  memory,
  type Monitor,
  TocsinError,
} from "tocsin"
import { collect, enroll, heartbeatOf, keyOf, resultOf, send, turns, until } from "./requests.ts"

const codeOf = async (call: () => unknown): Promise<string> => {
  try {
    await call()
  } catch (error) {
    assert.instanceOf(error, TocsinError)
    return error.code
  }
  return assert.fail("it was not refused")
}

const requestOf = (agent: string) => ({
  method: "POST",
  headers: { authorization: `Bearer ${keyOf(agent)}` },
  body: JSON.stringify(heartbeatOf(agent)),
})

const PATH = "/api/v1/heartbeat"

describe("close waits for what is under way", () => {
  let monitor: Monitor
  const server = createServer((request, response) => monitor.node(request, response))

  beforeAll(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const ways: ReadonlyArray<readonly [name: string, make: () => Promise<unknown>, answer: unknown]> = [
    ["a call", () => monitor.heartbeat(keyOf("a"), heartbeatOf("a")), { accepted: false }],
    [
      "a request to fetch",
      async () => {
        const { status, headers } = await monitor.fetch(new Request(`http://host${PATH}`, requestOf("a")))
        return [status, headers.get("connection")]
      },
      [202, "close"],
    ],
    [
      "a request to node",
      async () => {
        // Bound to a port, as was asked for.
        const { port } = server.address() as AddressInfo
        const { status, headers } = await fetch(`http://127.0.0.1:${port}${PATH}`, requestOf("a"))
        return [status, headers.get("connection")]
      },
      [202, "close"],
    ],
  ]

  it.each(ways)("%s, and tells its connection to close", async (_, make, answer) => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let isSlow = false
    let isWriting = false
    let wasClosed = false
    const store: KeyValueStore = {
      load: () => [],
      write: async (entries) => {
        const isReport = Array.from(entries.keys()).every((key) => key.startsWith("replica/"))
        if (!isSlow || isReport) return
        isWriting = true
        await held
        assert.isFalse(wasClosed)
      },
      close: async () => {
        wasClosed = true
      },
    }
    const storage = keyValue({ name: "a slow disk", open: async () => store })
    monitor = await createMonitor({ storage, log: false, notifiers: [], housekeeping: false })
    isSlow = true
    const made = make()
    await until(() => isWriting)
    let isClosed = false
    const closing = monitor.close().then(() => {
      isClosed = true
    })
    await turns(50)
    assert.isFalse(isClosed)
    release()
    assert.deepStrictEqual(await made, answer)
    await closing
    assert.isTrue(wasClosed)
  })
})

it("close resolves and logs the failure of a store that cannot be closed", async () => {
  const store: KeyValueStore = {
    load: () => [],
    write: async () => {},
    close: () => Promise.reject(new Error("the volume is gone")),
  }
  const storage = keyValue({ name: "a store", open: async () => store })
  const logged: Array<LogEntry> = []
  const monitor = await createMonitor({ storage, notifiers: [], log: (entry) => void logged.push(entry) })
  await monitor.close()
  const [entry, ...others] = logged.filter(({ message }) => message === "a store could not be closed")
  assert.match(entry?.cause ?? "", /the volume is gone/)
  assert.lengthOf(others, 0)
})

describe("a closed monitor", () => {
  it("refuses whoever asks for its incident changes", async () => {
    const monitor = await createMonitor({ storage: memory(), log: false, notifiers: [] })
    await monitor.close()
    const codes = [
      await codeOf(() => monitor.incidentChanges().next()),
      await codeOf(() => collect(monitor.incidentChanges())),
      await codeOf(() => monitor.changes().next()),
      await codeOf(() => monitor.onIncident(() => {})),
      await codeOf(() => collect(monitor.agents.all())),
    ]
    assert.deepStrictEqual(codes, ["closed", "closed", "closed", "closed", "closed"])
  })

  it("calls no callback of onIncident: those of changes from before were called first", async () => {
    const monitor = await createMonitor({ storage: memory(), log: false, notifiers: [] })
    await enroll(monitor, "a")
    const told: Array<IncidentNews["type"]> = []
    monitor.onIncident(async ({ type }) => {
      await turns(5)
      told.push(type)
    })
    await send(monitor, "a", resultOf("warning"))
    await send(monitor, "a", resultOf("critical"))
    await send(monitor, "a", resultOf("ok"))
    await monitor.close()
    assert.deepStrictEqual(told, ["opened", "changed", "resolved"])
    await turns(50)
    assert.lengthOf(told, 3)
  })

  const ownFunctions: ReadonlyArray<
    readonly [name: string, arrange: (monitor: Monitor, close: () => Promise<void>) => unknown]
  > = [
    ["a callback of onIncident", (monitor, close) => monitor.onIncident(close)],
    [
      "a callback of onIncident, after an await",
      (monitor, close) =>
        monitor.onIncident(async () => {
          await turns(2)
          await close()
        }),
    ],
    ["a notifier", () => {}],
    [
      "a check of an agent",
      async (monitor, close) => {
        const agent = await monitor.agent("b")
        agent.check("c", { every: "1m" }, close)
      },
    ],
  ]
  it.each(ownFunctions)("was closed by %s, and waited not for that one", async (name, arrange) => {
    let isClosed = false
    const close = async () => {
      await monitor.close()
      isClosed = true
    }
    const notifiers = name === "a notifier" ? [{ name: "pager", send: close }] : []
    const monitor = await createMonitor({ storage: memory(), log: false, notifiers })
    await enroll(monitor, "a")
    await arrange(monitor, close)
    const began = performance.now()
    if (name !== "a check of an agent") await send(monitor, "a", resultOf("critical"))
    await until(() => isClosed)
    // So long it waits for others.
    assert.isBelow(performance.now() - began, 5_000)
  })

  it("does not wait for a callback that never returns, and calls it no more", async () => {
    const monitor = await createMonitor({ storage: memory(), log: false, notifiers: [] })
    await enroll(monitor, "a")
    let told = 0
    let finish = () => {}
    monitor.onIncident(() => {
      told += 1
      return new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    await send(monitor, "a", resultOf("warning"))
    await send(monitor, "a", resultOf("critical"))
    await monitor.close()
    finish()
    await turns(50)
    assert.strictEqual(told, 1)
  })

  it("leaves nothing behind in the signals that it was given", async () => {
    const monitor = await createMonitor({ storage: memory(), log: false, notifiers: [] })
    const { signal } = new AbortController()
    const listeners = () => getEventListeners(signal, "abort").length
    const returned = monitor.incidentChanges({ signal })
    assert.strictEqual(listeners(), 1)
    await returned.return?.()
    assert.strictEqual(listeners(), 0)
    const waiting = monitor.incidentChanges({ signal }).next()
    const idle = monitor.incidentChanges({ signal })
    await monitor.close()
    assert.isTrue((await waiting).done)
    assert.isTrue((await idle.next()).done)
    assert.strictEqual(listeners(), 0)
  })
})

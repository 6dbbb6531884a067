import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import {
  createMonitor,
  type IncidentNews,
  type LogEntry,
  memory,
  type Monitor,
  sqlite,
  TocsinError,
} from "tocsin"
import { enroll, resultOf, send, until } from "./requests.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-incidents-"))
afterAll(() => rmSync(folder, { recursive: true }))

const start = () => createMonitor({ storage: memory(), log: false, notifiers: [] })

const labelOf = ({ type, incident }: IncidentNews) => `${type} ${incident.incident_key} ${incident.severity}`

const take = async (changes: AsyncIterable<IncidentNews>, count: number) => {
  const taken: Array<IncidentNews> = []
  for await (const change of changes) if (taken.push(change) === count) break
  return taken
}

const oneLife = async (monitor: Monitor, agent: string) => {
  await send(monitor, agent, resultOf("warning"))
  await send(monitor, agent, resultOf("critical"))
  await send(monitor, agent, resultOf("ok"))
}

describe("incident changes", () => {
  it.each([
    ["memory", memory],
    ["SQLite", () => sqlite(join(folder, "incidents.db"))],
  ])("are told as they are committed: %s", async (_name, storage) => {
    await using monitor = await createMonitor({ storage: storage(), log: false, notifiers: [] })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical", { check_id: "before" }))
    const changes = monitor.incidentChanges()
    await oneLife(monitor, "a")
    await send(monitor, "a", resultOf("ok", { check_id: "before" }))
    const taken = await take(changes, 4)
    assert.deepStrictEqual(taken.map(labelOf), [
      "opened a/disk warning",
      "changed a/disk critical",
      "resolved a/disk critical",
      "resolved a/before critical",
    ])
    assert.isString(taken[2]?.incident.resolved_at)
    assert.deepStrictEqual(
      taken.map(({ missed }) => missed),
      [0, 0, 0, 0],
    )
  })

  it("are told once each where many calls share a commit", async () => {
    await using monitor = await createMonitor({
      storage: sqlite(join(folder, "shared.db")),
      log: false,
      notifiers: [],
    })
    const agents = Array.from({ length: 20 }, (_, n) => `agent-${n}`)
    await enroll(monitor, ...agents)
    const changes = monitor.incidentChanges()
    await Promise.all(agents.map((agent) => send(monitor, agent, resultOf("critical"))))
    const opened = await take(changes, agents.length)
    assert.sameMembers(
      opened.map(labelOf),
      agents.map((agent) => `opened ${agent}/disk critical`),
    )
    const joined = monitor.incidentChanges()
    const shared = (n: number) => resultOf("critical", { check_id: `c${n}`, incident_key: "shared" })
    await Promise.all(agents.map((agent, n) => send(monitor, agent, shared(n))))
    const labels = (await take(joined, agents.length)).map(labelOf)
    assert.deepStrictEqual(labels, [
      "opened shared critical",
      ...agents.slice(1).map(() => "changed shared critical"),
    ])
  })

  it("end by their signal, by return and with the monitor, and wait for nobody", async () => {
    const monitor = await start()
    await enroll(monitor, "a")
    const controller = new AbortController()
    const aborted = monitor.incidentChanges({ signal: controller.signal })
    const waiting = aborted.next()
    controller.abort()
    assert.deepStrictEqual(await waiting, { done: true, value: undefined })
    assert.deepStrictEqual(await aborted.next(), { done: true, value: undefined })
    const late = monitor.incidentChanges({ signal: AbortSignal.abort() })
    assert.isTrue((await late.next()).done)

    const closing = monitor.incidentChanges()
    await send(monitor, "a", resultOf("critical"))
    const all = take(closing, 100)
    await monitor.close()
    assert.deepStrictEqual((await all).map(labelOf), ["opened a/disk critical"])
  })

  it("are answered in their order where several are asked for at once", async () => {
    await using monitor = await start()
    await enroll(monitor, "a")
    const changes = monitor.incidentChanges()
    const asked = [changes.next(), changes.next(), changes.next()]
    await oneLife(monitor, "a")
    const answers = await Promise.all(asked)
    assert.deepStrictEqual(
      answers.map(({ value }) => value?.type),
      ["opened", "changed", "resolved"],
    )
  })

  it("give way, oldest first, where nobody takes them, and say how many", async () => {
    await using monitor = await start()
    await enroll(monitor, "a")
    const changes = monitor.incidentChanges()
    const batch = (from: number) =>
      Array.from({ length: 200 }, (_, n) => resultOf("critical", { check_id: `check-${from + n}` }))
    for (let n = 0; n < 6; n += 1) await send(monitor, "a", ...batch(n * 200))
    const taken = await take(changes, 1_000)
    assert.strictEqual(taken[0]?.missed, 200)
    assert.strictEqual(taken[0]?.incident.incident_key, "a/check-200")
    assert.strictEqual(taken[1]?.missed, 0)
  })
})

describe("onIncident", () => {
  it("calls back one after another, outlives what callbacks throw, and ends when told to", async () => {
    const logged: Array<LogEntry> = []
    await using monitor = await createMonitor({
      storage: memory(),
      log: (entry) => void logged.push(entry),
      notifiers: [],
    })
    await enroll(monitor, "a")
    const told: Array<string> = []
    let atOnce = 0
    const end = monitor.onIncident(async (change) => {
      atOnce += 1
      assert.strictEqual(atOnce, 1)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce -= 1
      told.push(labelOf(change))
      if (told.length === 1) throw new Error("a mistake in a callback")
    })
    await oneLife(monitor, "a")
    await until(() => told.length === 3)
    assert.strictEqual(logged.find(({ level }) => level === "error")?.message.includes("onIncident"), true)
    assert.include(JSON.stringify(logged), "a mistake in a callback")
    end()
    await oneLife(monitor, "a")
    await new Promise((resolve) => setImmediate(resolve))
    assert.lengthOf(told, 3)
  })

  it.each([[undefined], [5], [{ callback: () => {} }]])(
    "refuses what it cannot call: %j",
    async (callback) => {
      await using monitor = await start()
      assert.throws(() => monitor.onIncident(callback as never), TocsinError, /^onIncident takes a function/)
    },
  )
})

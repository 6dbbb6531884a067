import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { createMonitor, memory, newEventId, sqlite, type StorageChoice } from "tocsin"
import { createTestMonitor } from "tocsin/testing"
import { collect, enroll, heartbeatOf, keyOf, resultOf, send, until } from "./requests.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-library-"))
afterAll(() => rmSync(folder, { recursive: true }))

const quiet = { log: false } as const

describe.each<[string, () => StorageChoice]>([
  ["memory", memory],
  ["SQLite", () => sqlite(join(folder, `${crypto.randomUUID()}.db`))],
])("a monitor on %s", (_name, storage) => {
  it("takes an agent from its first heartbeat to a resolved incident", async () => {
    await using monitor = await createMonitor({ ...quiet, storage: storage() })
    assert.deepStrictEqual(await monitor.heartbeat(keyOf("a"), heartbeatOf("a")), { accepted: false })
    const [pending] = (await monitor.agents.list()).items
    assert.strictEqual(pending?.admission_state, "pending")
    assert.match(pending?.key_fingerprint ?? "", /^[0-9a-f]{16}$/)
    assert.deepStrictEqual(await monitor.agents.accept("a"), { count: 1 })
    assert.deepStrictEqual(await monitor.heartbeat(keyOf("a"), heartbeatOf("a")), { accepted: true })

    const bad = resultOf("critical", { exit_code: 2 })
    assert.deepStrictEqual(await send(monitor, "a", bad), { accepted: 1, deduplicated: 0 })
    assert.deepStrictEqual(await send(monitor, "a", bad), { accepted: 0, deduplicated: 1 })
    const { items } = await monitor.incidents.list({ state: "open" })
    const [incident] = items
    assert.deepInclude(incident, { incident_key: "a/disk", severity: "critical", summary: "DISK critical" })
    assert.match(incident?.opened_at ?? "", /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const detail = await monitor.incidents.get(incident?.id ?? "")
    assert.deepStrictEqual(
      detail.timeline.map(({ change }) => change),
      ["joined"],
    )

    const [check] = await collect(monitor.checks.all({ agent_id: "a" }))
    assert.deepInclude(check, { check_id: "disk", status: "critical", exit_code: 2 })
    const why = await monitor.checks.explain({ agent_id: "a", check_id: "disk" })
    assert.strictEqual(why.last_change?.event_id, bad.event_id)
    assert.strictEqual(why.incident?.id, incident?.id)

    await send(monitor, "a", resultOf("ok"))
    assert.deepStrictEqual(
      (await monitor.history.list({ agent_id: "a" })).items.map(({ status }) => status),
      ["ok", "critical"],
    )
    const summary = await monitor.summary()
    assert.deepInclude(summary, { agents_online: 1, checks_ok: 1, open_incidents: 0 })
    assert.isTrue(await monitor.isReady())
  })

  it("does to agents and keys what operators decide", async () => {
    await using monitor = await createMonitor({ ...quiet, storage: storage() })
    for (const id of ["a", "b", "c", "d"]) await monitor.heartbeat(keyOf(id), heartbeatOf(id))
    assert.deepStrictEqual(await monitor.agents.block("a"), { count: 1 })
    assert.deepStrictEqual(await monitor.agents.remove("b"), { count: 1 })
    assert.deepStrictEqual(await monitor.agents.acceptAll({ include_rotation: true }), { count: 2 })
    const blocked = await monitor.heartbeat(keyOf("a"), heartbeatOf("a")).outcome()
    assert.isTrue(!blocked.ok && blocked.error.code === "agent_blocked")
    const [row] = await collect(monitor.blacklist.all())
    assert.strictEqual(row?.agent_id, "a")
    assert.deepStrictEqual(await monitor.blacklist.remove(row?.id ?? ""), { count: 1 })
    assert.deepStrictEqual((await monitor.blacklist.list()).items, [])
    await monitor.heartbeat(keyOf("e"), heartbeatOf("e"))
    assert.deepStrictEqual(await monitor.agents.blockAll(), { count: 1 })
    assert.deepStrictEqual(await monitor.blacklist.removeAll(), { count: 1 })
    await monitor.heartbeat(keyOf("f"), heartbeatOf("f"))
    assert.deepStrictEqual(await monitor.agents.removeAll(), { count: 1 })
    assert.deepStrictEqual(
      (await collect(monitor.agents.all())).map(({ agent_id }) => agent_id),
      ["c", "d"],
    )
  })

  it("replays dead letters, releases frozen checks, deletes checks, tests notifiers", async () => {
    let isRefusing = true
    const sent: Array<string> = []
    await using monitor = await createMonitor({
      ...quiet,
      storage: storage(),
      notifiers: [
        {
          name: "debug",
          send: ({ event_type }) => {
            if (isRefusing) return { outcome: "refused", error: "Nobody is on call." }
            sent.push(event_type)
            return undefined
          },
          test: ({ text }) => void sent.push(text),
        },
      ],
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical", { observed_at: "2999-01-01T00:00:00Z" }))
    await until(async () => (await monitor.outbox.list({ state: "failed" })).items.length === 1)
    const [dead] = (await monitor.outbox.list({ state: "failed", notifier: "debug" })).items
    assert.strictEqual(dead?.last_error, "Nobody is on call.")
    isRefusing = false
    assert.deepStrictEqual(await monitor.outbox.replay(dead?.id ?? ""), { count: 1 })
    await until(() => sent.length === 1)
    assert.deepInclude(await monitor.notifiers.test("debug"), { outcome: "delivered" })
    assert.match(sent[1] ?? "", /^TEST/)

    const check = { agent_id: "a", check_id: "disk" }
    assert.deepStrictEqual(await monitor.checks.resetClock(check), { count: 1 })
    await send(monitor, "a", resultOf("ok", { observed_at: new Date(Date.now() + 60_000).toISOString() }))
    assert.strictEqual((await monitor.checks.explain(check)).check.status, "ok")
    assert.deepStrictEqual(await monitor.checks.remove(check), { count: 1 })
    assert.deepStrictEqual((await monitor.checks.list()).items, [])
  })
})

describe("announcements", () => {
  it("are published on a page of the policy, under the name of who asks", async () => {
    const lines = [{ name: "Web shop", match: ["check_id = http"] }] as const
    await using monitor = await createMonitor({
      ...quiet,
      storage: memory(),
      policy: { pages: { shop: { title: "Example", groups: [{ title: "Shop", lines }] } } },
    })
    const slow = { page: "shop", kind: "incident", title: "Slow", text: "We look into it." } as const
    const made = await monitor.announcements.create({ ...slow, lines: ["web-shop"], by: "eva" })
    assert.deepInclude(made, { ...slow, state: "open", created_by: "eva" })
    await monitor.announcements.update(made.id, { text: "Better", by: "ann" })
    const [found] = await collect(monitor.announcements.all({ page: "shop" }))
    assert.deepInclude(found?.updates[0], { text: "Better", by: "ann" })
    // A page that the policy loses keeps its announcements.
    await monitor.setPolicy({})
    assert.deepStrictEqual((await monitor.announcements.list({ page: "shop" })).items[0], found)
    assert.deepStrictEqual(await monitor.announcements.end(made.id), { count: 1 })
    const another = await monitor.announcements.create(slow).outcome()
    assert.match(another.ok ? "" : another.error.message, /page of the policy \(none\), got shop/)
    const late = await monitor.announcements.update(made.id, { text: "Late" }).outcome()
    assert.strictEqual(!late.ok && late.error.code, "conflict")
    const gone = await monitor.announcements.end(newEventId()).outcome()
    assert.match(gone.ok ? "" : gone.error.message, /list announcements with monitor\.announcements\.list/)
  })
})

describe("silences", () => {
  it("hold what they cover until they are ended, under the name of who asks", async () => {
    const sent: Array<string> = []
    await using monitor = await createMonitor({
      ...quiet,
      storage: memory(),
      notifiers: [{ name: "pager", send: ({ event_type }) => void sent.push(event_type) }],
    })
    await enroll(monitor, "a")
    const request = {
      matchers: [{ field: "check_id", op: "=", value: "disk" } as const],
      for: "2h",
      comment: "new disks",
    }
    const signed = { ...request, by: "eva" }
    assert.deepInclude(await monitor.silences.create(signed, { dry_run: true }), { agents: 1 })
    const silence = await monitor.silences.create(signed, undefined)
    if (!("id" in silence)) return assert.fail("it is a preview")
    assert.deepInclude(silence, { state: "active", created_by: "eva" })
    await send(monitor, "a", resultOf("critical"))
    await until(async () => (await monitor.outbox.withHolds.list({ held: true })).items.length === 1)
    const held_by = [`silence:${silence.id}`]
    assert.deepInclude((await monitor.incidents.withHolds.list()).items[0], { held_by })
    assert.deepInclude(await monitor.silences.create(request, { dry_run: true }), {
      agents: 1,
      open_incidents: 1,
      held_now: 1,
    })
    const ends_at = new Date(Date.now() + 86_400_000).toISOString()
    const unset: object = { for: undefined }
    await monitor.silences.change(silence.id, { ends_at, by: "ann", ...unset })
    assert.deepStrictEqual(await collect(monitor.silences.all({ state: "active" })), [
      { ...silence, ends_at },
    ])
    assert.deepStrictEqual(sent, [])
    assert.deepStrictEqual(await monitor.silences.expire(silence.id, { by: "ben" }), { count: 1 })
    await until(() => sent.length === 1)
    const late = await monitor.silences.change(silence.id, { comment: "late" }).outcome()
    assert.strictEqual(!late.ok && late.error.code, "conflict")
    const gone = await monitor.silences.get(newEventId()).outcome()
    assert.strictEqual(!gone.ok && gone.error.code, "not_found")
    const audit = (await collect(monitor.audit.all())).filter(({ action }) => action.startsWith("silence"))
    assert.deepStrictEqual(
      audit.map(({ action, actor, via }) => [action, actor, via]),
      [
        ["silence.expired", "ben", "library"],
        ["silence.changed", "ann", "library"],
        ["silence.created", "eva", "library"],
      ],
    )
  })
})

describe.each<[string, () => StorageChoice]>([
  ["memory", memory],
  ["SQLite", () => sqlite(join(folder, "named.db"))],
])("notifiers of names of their own on %s", (_name, storage) => {
  it("are in every list, in process and over HTTP", async () => {
    await using monitor = await createMonitor({
      ...quiet,
      storage: storage(),
      operatorTokens: ["operators-token"],
      notifiers: [
        { name: "pager", send: () => {} },
        { name: "on_call_2", send: () => ({ outcome: "refused", error: "Nobody is on call." }) },
      ],
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    const label = (item: { notifier: string; state: string }) => `${item.notifier} ${item.state}`
    const isDone = async () =>
      (await collect(monitor.outbox.all())).map(label).toSorted().join() === "on_call_2 failed,pager sent"
    await until(isDone)
    assert.lengthOf((await monitor.outbox.list({ state: "sent", event_type: "firing" })).items, 1)
    const [incident] = await collect(monitor.incidents.all())
    assert.lengthOf((await monitor.incidents.get(incident?.id ?? "")).deliveries, 2)
    for (const path of ["/api/v1/notifiers/outbox", `/ops/v1/incidents/${incident?.id}`]) {
      const headers = { authorization: "Bearer operators-token" }
      const response = await monitor.fetch(new Request(`http://host${path}`, { headers }))
      assert.include(await response.text(), '"notifier":"pager"')
    }
  })
})

describe("acknowledgements and silences", () => {
  it("last as the options say, and the audit is kept as long", async () => {
    await using monitor = await createTestMonitor({
      acknowledgedFor: "1d",
      longestAcknowledgement: "8d",
      longestSilence: "31d",
      retention: { audit: "3d" },
      staleAfter: "40d",
      deadAfter: "50d",
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    const id = (await monitor.incidents.list()).items[0]?.id ?? ""
    const untilOf = async (request: { readonly for?: string }) =>
      (await monitor.incidents.acknowledge(id, request)).until
    assert.strictEqual(await untilOf({}), "2026-01-02T00:00:00.000Z")
    assert.strictEqual(await untilOf({ for: "8d" }), "2026-01-09T00:00:00.000Z")
    const tooLong = await monitor.incidents.acknowledge(id, { for: "9d" }).outcome()
    assert.match(tooLong.ok ? "" : tooLong.error.message, /longer than 8d .*longestAcknowledgement/)
    const matchers = [{ field: "check_id", op: "=", value: "disk" } as const]
    await monitor.silences.create({ matchers, for: "31d", comment: "new disks" })
    assert.isNotEmpty((await monitor.audit.list()).items)
    await monitor.advance("4d")
    assert.deepStrictEqual((await monitor.audit.list()).items, [])
  })
})

describe("lists", () => {
  it("come by pages, forward and back, and whole", async () => {
    await using monitor = await createMonitor({ ...quiet, storage: memory(), registrationRate: false })
    const ids = Array.from({ length: 25 }, (_, n) => `agent-${String(n).padStart(2, "0")}`)
    for (const id of ids) await monitor.heartbeat(keyOf(id), heartbeatOf(id))
    const first = await monitor.agents.list({ limit: 10 })
    const second = await monitor.agents.list({ limit: 10, cursor: first.next_cursor ?? undefined })
    assert.deepStrictEqual(
      second.items.map(({ agent_id }) => agent_id),
      ids.slice(10, 20),
    )
    const back = await monitor.agents.list({ limit: 10, back: true, cursor: second.prev_cursor ?? undefined })
    assert.deepStrictEqual(back.items, first.items)
    const all = await collect(monitor.agents.all({ limit: 7 }))
    assert.deepStrictEqual(
      all.map(({ agent_id }) => agent_id),
      ids,
    )
  })

  it("are read no further than they are asked for", async () => {
    await using monitor = await createMonitor({ ...quiet, storage: memory(), registrationRate: false })
    for (const id of ["a", "b", "c"]) await monitor.heartbeat(keyOf(id), heartbeatOf(id))
    const seen: Array<string> = []
    for await (const { agent_id } of monitor.agents.all({ limit: 1 })) {
      seen.push(agent_id)
      if (agent_id === "a") await monitor.agents.remove("b")
      if (agent_id === "c") break
    }
    assert.deepStrictEqual(seen, ["a", "c"])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { USUAL_FAILS, USUAL_FROM } from "@tocsin/contract/watches/places"
import { pauseReasons } from "@tocsin/core/features/watches/pauseReasons"
import { type ProbeResult, recordProbes } from "@tocsin/core/features/watches/recordProbes"
import { followPolicyWatches } from "@tocsin/core/features/watches/watchDecisions"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { rowOf } from "./observe.ts"
import { outcomeOf } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const WATCHES = AgentId.make("watches")
const http = { url: "http://page.example/" }
const nameOf = (n: number): CheckId => CheckId.make(`page-${n}`)

const created = (replica: Replica, name: CheckId) => replica.watches.create({ name, http })

/** The result of a watch's probe, as it is due now. */
const resultOf = (replica: Replica, name: CheckId, status: CheckStatus) =>
  Effect.zipWith(replica.watches.get(name), Instant.now, ({ next_probe_at: due }, at): ProbeResult => {
    return { name, due, at, status, output: `it is ${status}`, duration_ms: 3 }
  })

const record = ({ commits, incidents, watchAgent: agent }: Replica, results: ReadonlyArray<ProbeResult>) =>
  commits.transact(
    recordProbes({
      agent,
      results,
      incidents,
    }),
  )

/** Probes a watch once, with this result, and lets its period pass. */
const probed = Effect.fnUntraced(function* (replica: Replica, name: CheckId, status: CheckStatus) {
  const { dropped } = yield* record(replica, [yield* resultOf(replica, name, status)])
  yield* TestClock.adjust("1 minute")
  return dropped
})

const statusOf = (replica: Replica, name: CheckId) =>
  Effect.map(replica.storage.check(WATCHES, name), (row) => row?.status)

const openKeys = (replica: Replica) =>
  Effect.map(rowsOf(replica, "incidents"), (rows) =>
    rows
      .filter(({ state }) => state === "open")
      .map(({ incident_key, severity }) => `${incident_key} ${severity}`)
      .toSorted(),
  )

const lives = Effect.fnUntraced(function* (replica: Replica) {
  const name = nameOf(1)
  yield* created(replica, name)
  assert.strictEqual(yield* outcomeOf(Effect.as(created(replica, name), "created")), "StateConflict")
  assert.strictEqual((yield* replica.integrations.get(WATCHES)).kind, "watch")
  const first = yield* resultOf(replica, name, "ok")
  assert.deepStrictEqual(yield* record(replica, [first]), { taken: ["ok"], dropped: 0 })
  // Another replica that ran the same probe.
  assert.deepStrictEqual(yield* record(replica, [first]), { taken: [], dropped: 1 })
  assert.strictEqual(yield* statusOf(replica, name), "ok")

  yield* probed(replica, name, "critical")
  assert.strictEqual(yield* statusOf(replica, name), "ok")
  assert.strictEqual((yield* replica.watches.get(name)).last?.status, "critical")
  yield* probed(replica, name, "critical")
  assert.strictEqual(yield* statusOf(replica, name), "critical")
  assert.deepStrictEqual(yield* openKeys(replica), [`watches/${name} critical`])
  yield* probed(replica, name, "ok")
  assert.strictEqual(yield* statusOf(replica, name), "ok")
  assert.deepStrictEqual(yield* openKeys(replica), [])

  const expected = Effect.gen(function* () {
    const { registration_id } = (yield* replica.storage.agent(WATCHES)) ?? assert.fail("no agent")
    const row = yield* rowOf(replica, "expectation", { agent_id: WATCHES, registration_id, check_id: name })
    return row?.terms?.after_millis
  })
  // Four periods and the two minutes of a hold.
  assert.strictEqual(yield* expected, 360_000)
  const paused = yield* replica.watches.pause(name, { for: Duration.hours(1) })
  assert.isTrue(paused.is_paused)
  assert.isUndefined(yield* expected)
  const said = Effect.gen(function* () {
    const { registration_id } = (yield* replica.storage.agent(WATCHES)) ?? assert.fail("no agent")
    const reasons = pauseReasons({ rules: { watchAgent: WATCHES }, storage: replica.storage })
    return yield* reasons({ agent_id: WATCHES, registration_id, check_id: name })
  })
  assert.match((yield* said).join(), /^Its watch is paused until [-\d]{10} [:\d]{8} UTC: nothing probes it/)
  assert.strictEqual(yield* probed(replica, name, "critical"), 1)
  assert.isFalse((yield* replica.watches.pause(name, { for: Duration.zero })).is_paused)
  assert.deepStrictEqual(yield* said, [])
  yield* replica.watches.change(name, { is_paused: true })
  assert.match((yield* said).join(), /^Its watch is paused until it is resumed: /)
  yield* replica.watches.change(name, { is_paused: false })
  assert.strictEqual(yield* expected, 360_000)

  assert.deepStrictEqual(yield* replica.watches.remove(name), { count: 1 })
  assert.deepStrictEqual(yield* replica.watches.remove(name), { count: 0 })
  assert.isUndefined(yield* statusOf(replica, name))
  assert.isUndefined(yield* expected)
})

const isAudited = Effect.fnUntraced(function* (replica: Replica) {
  const { watches } = replica
  const name = nameOf(1)
  yield* created(replica, name)
  yield* probed(replica, name, "ok")
  const { next_probe_at } = yield* watches.get(name)
  const actions = Effect.map(rowsOf(replica, "audit", { subject: name }), (rows) =>
    rows.map(({ action }) => action).toReversed(),
  )
  const every = Duration.minutes(1)
  for (const same of [{}, { is_paused: false }, { every }, { http }, { confirm: {} }])
    yield* watches.change(name, same)
  yield* watches.pause(name, { for: Duration.zero })
  assert.strictEqual((yield* watches.get(name)).next_probe_at, next_probe_at)
  assert.deepStrictEqual(yield* actions, ["watch.created"])

  yield* watches.pause(name, { for: Duration.hours(1) })
  // Until it is resumed: once.
  yield* watches.change(name, { is_paused: true })
  yield* watches.change(name, { is_paused: true })
  yield* TestClock.adjust("1 milli")
  yield* watches.pause(name, { for: Duration.zero })
  yield* TestClock.adjust("1 milli")
  yield* watches.change(name, { every: Duration.seconds(30) })
  const expected = ["watch.created", "watch.paused", "watch.paused", "watch.resumed", "watch.changed"]
  assert.deepStrictEqual(yield* actions, expected)
})

const PAGES = [1, 2, 3, 4, 5, 6].map(nameOf)

const round = Effect.fnUntraced(function* (replica: Replica, statuses: ReadonlyArray<CheckStatus>) {
  for (const [n, one] of statuses.entries())
    yield* record(replica, [yield* resultOf(replica, nameOf(n + 1), one)])
  yield* TestClock.adjust("1 minute")
})

const all = (one: CheckStatus): ReadonlyArray<CheckStatus> => PAGES.map(() => one)
const PLACE = "watches/@place critical"

const isCutOff = Effect.fnUntraced(function* (replica: Replica) {
  for (const name of PAGES) yield* created(replica, name)
  yield* round(replica, all("ok"))
  yield* round(replica, all("critical"))
  assert.deepStrictEqual(yield* openKeys(replica), [])
  // Second failures count, but not while more than 80 % fail.
  yield* round(replica, all("critical"))
  assert.deepStrictEqual(yield* openKeys(replica), [PLACE])
  yield* round(replica, all("ok"))
  assert.deepStrictEqual(yield* openKeys(replica), [])

  yield* round(replica, all("critical"))
  yield* round(replica, all("critical"))
  yield* round(replica, all("critical"))
  assert.deepStrictEqual(yield* openKeys(replica), [PLACE])
  // Two minutes have passed: what still fails counts.
  yield* round(replica, all("critical"))
  assert.deepStrictEqual(yield* openKeys(replica), [
    PLACE,
    ...PAGES.map((name) => `watches/${name} critical`),
  ])
  // Of six, four is not more than 80 %.
  yield* round(replica, ["ok", "ok", "critical", "critical", "critical", "critical"])
  const stillDown = PAGES.slice(2).map((name) => `watches/${name} critical`)
  assert.deepStrictEqual(yield* openKeys(replica), stillDown)
  // The two that were well fail too: fewer than five.
  yield* round(replica, all("critical"))
  yield* round(replica, all("critical"))
  assert.notInclude(yield* openKeys(replica), PLACE)
  assert.lengthOf(yield* openKeys(replica), 6)
})

const follows = Effect.fnUntraced(function* (replica: Replica) {
  const { commits, incidents, watchAgent: agent, watches } = replica
  const terms = (name: CheckId, every_millis = 60_000) => ({
    name,
    every_millis,
    confirm: { bad: 2, good: 1 },
    probe: { http },
    title: undefined,
    headers: undefined,
    labels: undefined,
    from: USUAL_FROM,
    fails: USUAL_FAILS,
  })
  const follow = (...defined: ReadonlyArray<ReturnType<typeof terms>>) =>
    commits.transact(
      followPolicyWatches(defined, {
        agent,
        incidents,
        // Several rows of the audit need an ID each.
        by: { ...signedBy("system"), newAuditId: incidents.newAuditId },
      }),
    )
  const [one, two, three] = [nameOf(1), nameOf(2), nameOf(3)]
  yield* created(replica, one)
  yield* created(replica, three)
  yield* follow(terms(one), terms(two))
  const shown = Effect.map(rowsOf(replica, "watches"), (rows) =>
    rows.map(({ every_millis, name, origin }) => `${name} ${origin} ${every_millis}`),
  )
  assert.deepStrictEqual(yield* shown, [
    `${one} policy 60000`,
    `${two} policy 60000`,
    `${three} operator 60000`,
  ])
  assert.strictEqual(yield* outcomeOf(Effect.as(watches.remove(one), "removed")), "StateConflict")
  yield* probed(replica, two, "ok")
  const { next_probe_at } = yield* watches.get(two)
  yield* follow(terms(one, 30_000), terms(two))
  // An unchanged watch keeps its schedule.
  assert.strictEqual((yield* watches.get(two)).next_probe_at, next_probe_at)
  yield* follow(terms(one, 30_000))
  assert.deepStrictEqual(yield* shown, [`${one} policy 30000`, `${three} operator 60000`])
  assert.isUndefined(yield* statusOf(replica, two))
})

const keepsItsAgent = Effect.fnUntraced(function* (replica: Replica) {
  const name = nameOf(1)
  yield* created(replica, name)
  yield* replica.admission.remove(WATCHES)
  yield* probed(replica, name, "ok")
  assert.strictEqual(yield* statusOf(replica, name), "ok")
  yield* replica.admission.block(WATCHES)
  yield* probed(replica, name, "ok")
  assert.isUndefined(yield* replica.storage.agent(WATCHES))
  yield* replica.integrations.rotate(WATCHES, {})
  yield* probed(replica, name, "ok")
  assert.strictEqual(yield* statusOf(replica, name), "ok")
  yield* replica.integrations.remove(WATCHES)
  yield* replica.integrations.create({ name: WATCHES, kind: "ping" })
  assert.strictEqual(yield* outcomeOf(Effect.as(created(replica, nameOf(2)), "created")), "StateConflict")
})

/** Watches: rows, confirmed results, and when the service is cut off (docs/rules.md#watches). */
export const watchSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("watches", () => {
    it.effect("count confirmed results of due probes, each once", () =>
      Effect.flatMap(openReplica(subject), lives),
    )
    it.effect("have a row of the audit for each change, and none where nothing changes", () =>
      Effect.flatMap(openReplica(subject), isAudited),
    )
    it.effect("that fail at once do not count for two minutes", () =>
      Effect.flatMap(openReplica(subject), isCutOff),
    )
    it.effect("of the policy are those that it defines", () => Effect.flatMap(openReplica(subject), follows))
    it.effect("have an agent again after it was deleted, and none while its key is blocked", () =>
      Effect.flatMap(openReplica(subject), keepsItsAgent),
    )
  })
}

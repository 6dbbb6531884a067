import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { HERE } from "@tocsin/contract/watches/places"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ask, BERLIN, decided, http, NAME, OSLO, probe, report, WATCHES } from "./placeSteps.ts"
import { placeStories } from "./placeStories.ts"
import { outcomeOf } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, send } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const line = (replica: Replica) =>
  Effect.map(replica.storage.check(WATCHES, NAME), (check) => check?.summary?.split("\n")[0])
const openKeys = (replica: Replica) =>
  Effect.map(rowsOf(replica, "incidents"), (rows) =>
    rows.filter(({ state }) => state === "open").map(({ incident_key }) => incident_key),
  )

const decides = Effect.fnUntraced(function* (replica: Replica) {
  const { watches } = replica
  yield* enroll(replica, BERLIN, OSLO)
  yield* watches.create({ name: NAME, http, from: [HERE, BERLIN, OSLO], fails: "majority" })
  for (const agent of [BERLIN, OSLO]) assert.lengthOf((yield* ask(replica, agent)).items, 1)
  yield* report(replica, BERLIN, "ok")
  // At first, more than half of all places decide.
  assert.isUndefined(yield* decided(replica))
  yield* probe(replica, "ok")
  assert.strictEqual(yield* decided(replica), "ok")
  yield* report(replica, OSLO, "ok")
  assert.strictEqual(yield* line(replica), "ok from 3 of 3 places: berlin ok; here ok; oslo ok")

  for (const _ of [1, 2]) yield* report(replica, BERLIN, "critical")
  assert.strictEqual(yield* line(replica), "ok from 2 of 3 places: berlin from berlin; here ok; oslo ok")
  yield* report(replica, OSLO, "critical")
  assert.strictEqual(yield* decided(replica), "ok")
  yield* report(replica, OSLO, "critical")
  assert.strictEqual(
    yield* line(replica),
    "critical from 2 of 3 places: berlin from berlin; oslo from oslo; here ok",
  )
  assert.deepStrictEqual(yield* openKeys(replica), [`watches/${NAME}`])
  const { fails, from, last, places, status } = yield* watches.get(NAME)
  assert.deepStrictEqual(
    { fails, from, status },
    { fails: "majority", from: [HERE, BERLIN, OSLO], status: "critical" },
  )
  assert.strictEqual(last?.status, "critical")
  assert.deepStrictEqual(
    places?.map((place) => [place.place, place.status, place.counts]),
    [
      [HERE, "ok", true],
      [BERLIN, "critical", true],
      [OSLO, "critical", true],
    ],
  )
  // An older one, and one that waited too long, decide nothing.
  yield* report(replica, OSLO, "ok", { ago: 1 })
  assert.strictEqual(yield* decided(replica), "critical")
  yield* TestClock.adjust("10 minutes")
  yield* report(replica, OSLO, "ok", { ago: 151 })
  assert.strictEqual(yield* decided(replica), "critical")
  // Now it is the only one that counts.
  yield* report(replica, OSLO, "ok", { ago: 150 })
  assert.strictEqual(yield* line(replica), "ok from 1 of 1 place: oslo ok; berlin late; here late")
  assert.deepStrictEqual(yield* openKeys(replica), [])
})

const keepsHere = Effect.fnUntraced(function* (replica: Replica) {
  const { watches } = replica
  const turns = Effect.map(watches.get(NAME), ({ here = [] }) =>
    here.map(({ from, status }) => `${Instant.toMillis(from) / 3_600_000} ${status}`).join(),
  )
  yield* watches.create({ name: NAME, http })
  yield* probe(replica, "ok")
  yield* watches.change(NAME, { from: [HERE, BERLIN] })
  yield* TestClock.adjust("1 hour")
  for (const _ of [1, 2]) yield* probe(replica, "critical")
  assert.strictEqual(yield* turns, "0 ok,1 critical")
  yield* TestClock.adjust("25 hours")
  yield* probe(replica, "ok")
  assert.strictEqual(yield* turns, "1 critical,26 ok")
})

const keepsApart = Effect.fnUntraced(function* (replica: Replica) {
  const { storage, watches } = replica
  yield* enroll(replica, BERLIN, OSLO)
  yield* watches.create({ name: NAME, http, from: [BERLIN], fails: "all", labels: { team: "web" } })
  // An agent that never asked has checks of such names as any.
  yield* report(replica, OSLO, "critical")
  assert.deepStrictEqual(yield* openKeys(replica), [`oslo/watch:${NAME}`])
  assert.lengthOf((yield* ask(replica, OSLO)).items, 0)
  // Once it has asked, its check leaves its incident.
  yield* report(replica, OSLO, "critical")
  assert.deepStrictEqual(yield* openKeys(replica), [])
  assert.deepStrictEqual((yield* storage.metricCounts).of_places, [{ status: "critical", checks: 1 }])

  yield* ask(replica, BERLIN)
  for (const _ of [1, 2]) yield* report(replica, BERLIN, "critical")
  assert.deepStrictEqual(yield* openKeys(replica), [`watches/${NAME}`])
  yield* watches.change(NAME, { is_paused: true })
  assert.lengthOf((yield* ask(replica, BERLIN)).items, 0)
  yield* report(replica, BERLIN, "ok")
  assert.strictEqual(yield* decided(replica), "critical")
  yield* watches.change(NAME, { is_paused: false })
  // Another probe begins all places anew.
  yield* watches.change(NAME, { tcp: { host: "shop.example", port: 443 } })
  assert.deepStrictEqual(
    (yield* watches.get(NAME)).places?.map(({ status }) => status),
    [null],
  )
  yield* report(replica, BERLIN, "ok")
  assert.strictEqual(yield* decided(replica), "ok")
  const outcomes: Array<string> = []
  for (const change of [{ fails: 2 }, { from: [BERLIN, OSLO], fails: 2 }, { from: [OSLO] }])
    outcomes.push(yield* outcomeOf(Effect.as(watches.change(NAME, change), "changed")))
  assert.deepStrictEqual(outcomes, ["ValidationError", "changed", "ValidationError"])
  assert.deepStrictEqual((yield* watches.get(NAME)).labels, { team: "web" })
  yield* watches.change(NAME, { from: [HERE, BERLIN, OSLO, AgentId.make("rome")] })
  yield* TestClock.adjust("91 seconds")
  yield* ask(replica, OSLO)
  // Else a place that refuses all looks well, since it asks.
  yield* report(replica, OSLO, "unknown")
  assert.deepStrictEqual(
    (yield* watches.places).items.map(({ place, state, unknown, watches: count }) => [
      place,
      state,
      count,
      ...(unknown === undefined ? [] : [unknown.watches]),
    ]),
    [
      [HERE, "ok", 1],
      [BERLIN, "late", 1],
      [OSLO, "ok", 1, 1],
      [AgentId.make("rome"), "never", 1],
    ],
  )
})

/** A lost answer has an agent send a result again: it counts once, also where the clock of its host was ahead before. */
const countsOnce = Effect.fnUntraced(function* (replica: Replica) {
  yield* enroll(replica, BERLIN)
  yield* replica.watches.create({ name: NAME, http, from: [BERLIN], confirm: { bad: 1, good: 2 } })
  yield* ask(replica, BERLIN)
  const ahead = yield* report(replica, BERLIN, "critical", { ago: -60 })
  yield* TestClock.adjust("1 second")
  const { sent } = yield* report(replica, BERLIN, "ok")
  for (const event of [sent, ahead.sent]) yield* send(replica, BERLIN, [event])
  assert.strictEqual(yield* decided(replica), "critical")
  yield* report(replica, BERLIN, "ok")
  assert.strictEqual(yield* decided(replica), "ok")
})

/** A result that a place could not send for an hour, or its server not take, decides nothing that is over, and stands in its history. */
const isAnHourLate = Effect.fnUntraced(function* (replica: Replica) {
  yield* enroll(replica, BERLIN)
  yield* replica.watches.create({ name: NAME, http, from: [BERLIN], confirm: { bad: 1, good: 1 } })
  yield* ask(replica, BERLIN)
  yield* report(replica, BERLIN, "ok")
  yield* TestClock.adjust("1 hour")
  for (const [minutes, status] of [
    [50, "critical"],
    [40, "ok"],
    [30, "warning"],
    [20, "critical"],
    [3, "ok"],
  ] as const)
    yield* report(replica, BERLIN, status, { ago: minutes * 60 })
  const own = { agent_id: BERLIN, check_id: CheckId.make(`watch:${NAME}`) }
  const kept = (yield* rowsOf(replica, "history")).filter(({ check_id }) => check_id === own.check_id)
  assert.deepStrictEqual(
    kept.map(({ status }) => status),
    ["ok", "critical", "warning", "ok", "critical", "ok"],
  )
  assert.strictEqual(yield* decided(replica), "ok")
  assert.lengthOf(yield* rowsOf(replica, "incidents"), 0)
  yield* report(replica, BERLIN, "critical", { ago: 60 })
  assert.strictEqual(yield* decided(replica), "critical")
})

const isCutOff = Effect.fnUntraced(function* (replica: Replica) {
  const { watches } = replica
  yield* enroll(replica, BERLIN)
  const names = [1, 2, 3, 4, 5].map((n) => CheckId.make(`page-${n}`))
  for (const name of names) yield* watches.create({ name, http, from: [BERLIN], fails: "any" })
  yield* ask(replica, BERLIN)
  const round = (status: CheckStatus) =>
    Effect.forEach(names, (name) => report(replica, BERLIN, status, { name }), { discard: true })
  yield* round("ok")
  yield* round("critical")
  assert.deepStrictEqual(yield* openKeys(replica), [])
  // Second failures do not count while no other place is there, for two minutes.
  yield* round("critical")
  assert.deepStrictEqual(yield* openKeys(replica), ["berlin/@place"])
  assert.containSubset((yield* watches.places).items, [{ place: BERLIN, state: "cut_off" }])
  yield* TestClock.adjust("1 minute")
  yield* round("critical")
  assert.deepStrictEqual(yield* openKeys(replica), ["berlin/@place"])
  yield* TestClock.adjust("1 minute")
  yield* round("critical")
  assert.lengthOf(yield* openKeys(replica), 6)
  yield* round("ok")
  assert.deepStrictEqual(yield* openKeys(replica), [])
})

/** Watches that agents probe: what their results decide (docs/rules.md#places). */
export const placeSuite = <Place>(
  subject: StorageUnderTest<Place>,
  { runs }: { readonly runs: number },
): void => {
  describe("places", () => {
    it.effect("decide about a watch together, in the transaction of each result", () =>
      Effect.flatMap(openReplica(subject), decides),
    )
    it.effect("keep the statuses that the service had as one of them, for a day", () =>
      Effect.flatMap(openReplica(subject), keepsHere),
    )
    it.effect("have checks of their own, which open no incident and count nowhere", () =>
      Effect.flatMap(openReplica(subject), keepsApart),
    )
    it.effect("count a result once that is sent again", () =>
      Effect.flatMap(openReplica(subject), countsOnce),
    )
    it.effect("that could not send for an hour lose nothing, and alarm about nothing that is over", () =>
      Effect.flatMap(openReplica(subject), isAnHourLate),
    )
    it.effect("that fail at once do not count for two minutes", () =>
      Effect.flatMap(openReplica(subject), isCutOff),
    )
    placeStories(subject, { runs })
  })
}

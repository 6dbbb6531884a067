import { assert, describe, it } from "@effect/vitest"
import { SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import { isShadow } from "@tocsin/core/heart/model/OutboxRecord"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { record } from "../service/Recording.ts"
import { EmptiedPostgres } from "../storage/EmptiedPostgres.ts"
import { migratedFolder, storageInFolder } from "../storage/migratedFolder.ts"
import {
  LONGEST,
  peopleScenario,
  quietScenario,
  type PeopleScenario,
  scenarioOfClocks,
} from "./PeopleScenario.ts"
import { playPeopleScenario } from "./playPeopleScenario.ts"

type Course = Effect.Success<ReturnType<typeof playPeopleScenario>>

const arbitrary = { runs: propertyRuns(3), size: LONGEST, maxShrinks: 20 }

/** The stored rows, without IDs and times other than those of events. */
const rowsOf = ({ incidents, items }: Course): ReadonlyArray<string> => {
  const names = new Map(
    incidents.map(({ id, incident_key, opened_at }) => [id, `${incident_key} of ${opened_at}`]),
  )
  return [
    ...incidents.map(({ log_entries, id, members_critical, members_warning, resolved_at, severity, state }) =>
      [names.get(id), state, severity, resolved_at, log_entries, members_warning, members_critical].join(" "),
    ),
    ...items.map(({ attempts, cause, event_type, incident_id, receiver, severity, state }) =>
      [names.get(incident_id), receiver, event_type, cause, severity, state, attempts].join(" "),
    ),
  ].toSorted()
}

/** The laws of docs/rules.md#holds at the end of a scenario in which no hold is in force any more. */
const judge = ({ arrivals, incidents, items, outdated, replayed }: Course): void => {
  assert.deepStrictEqual(outdated, [])
  for (const { id, severity, state } of incidents) {
    for (const receiver of ["chat", "pager"]) {
      const messages = arrivals
        .map(({ notification }) => notification)
        .filter((message) => message.incident.id === id && message.receiver === receiver)
      const types = messages.map(({ event_type }) => event_type)
      const last = messages.at(-1)
      const words = `${receiver} of ${id}, which is ${state}, was sent: ${types.join()}`
      assert.isFalse(types[0] === "resolved", words)
      // A receiver does not know a notification that it refused.
      const ofReceiver = items.filter((item) => item.incident_id === id && item.receiver === receiver)
      if (ofReceiver.some((item) => item.state === "failed" || replayed.has(item.id))) continue
      if (last !== undefined)
        assert.strictEqual(last.event_type, state === "open" ? "firing" : "resolved", words)
      // Every route notifies it first.
      if (receiver === "chat" && state === "open")
        assert.isAtLeast(
          last === undefined ? -1 : SEVERITY_RANK[last.severity],
          SEVERITY_RANK[severity],
          words,
        )
    }
  }
  for (const { state } of items) assert.include(["sent", "discarded", "failed"], state)
}

const sqlite = Layer.provide(storageInFolder(), migratedFolder)
const postgres = EmptiedPostgres.client.pipe(Layer.provide(EmptiedPostgres.layerOfFile()))

const few = { ...arbitrary, runs: propertyRuns(1) }

const alone = { processes: 1, restarts: false }
const replicas = { processes: 2, restarts: true }

describe("scenarios of results, acts of people, time and restarts", () => {
  it.effect.prop(
    "notify of what is, never of an end without a beginning, and alike on replicas and after restarts",
    { scenario: peopleScenario },
    ({ scenario }) =>
      Effect.gen(function* () {
        const first = yield* playPeopleScenario(scenario, alone)
        judge(first)
        const restarted = yield* playPeopleScenario(scenario, { ...alone, restarts: true })
        assert.deepStrictEqual(rowsOf(restarted), rowsOf(first))
        const both = yield* playPeopleScenario(scenario, replicas)
        judge(both)
        assert.deepStrictEqual(rowsOf(both), rowsOf(first))
      }),
    { arbitrary },
  )

  it.effect.prop(
    "lose nothing when the clock is set back by an hour",
    { scenario: scenarioOfClocks },
    ({ scenario }) => Effect.map(playPeopleScenario(scenario, replicas), judge),
    { arbitrary: few },
  )

  it.effect.prop(
    "leave rows at shadow receivers that differ in state and reason alone",
    { scenario: peopleScenario },
    ({ scenario }) =>
      Effect.gen(function* () {
        const whole = ({ items }: Course) =>
          items
            .map(({ id: _id, incident_id: _incident, ...row }) => row)
            .map((row) => (isShadow(row) ? { ...row, state: "sent", discarded_because: undefined } : row))
        const { items, ...sent } = yield* playPeopleScenario(scenario, alone)
        yield* TestClock.setTime(Date.parse("1970-01-01T00:00:00Z"))
        const shadows = yield* playPeopleScenario(scenario, { ...alone, isShadow: true })
        assert.deepStrictEqual(whole(shadows), whole({ ...sent, items }))
        assert.deepStrictEqual(shadows.arrivals, [])
        assert.isFalse(items.some(isShadow) || shadows.items.some(({ state }) => state === "sent"))
      }),
    { arbitrary },
  )

  it.effect.prop(
    "without a policy and an act, are those of a service that knows neither",
    { scenario: quietScenario },
    ({ scenario }) =>
      Effect.gen(function* () {
        const course = yield* playPeopleScenario(scenario, { ...replicas, hasPolicy: false })
        const bare = yield* playPeopleScenario(scenario, { ...alone, hasPolicy: false, keepsHouse: false })
        assert.deepStrictEqual(rowsOf(course), rowsOf(bare))
      }),
    { arbitrary: few },
  )

  const isRepeated = (
    { scenario }: { readonly scenario: PeopleScenario },
    layer: Layer.Layer<Storage, unknown>,
  ) =>
    Effect.gen(function* () {
      const { ids, repeatOn, storage } = record()
      yield* playPeopleScenario(scenario, { ...replicas, ids, storage })
      yield* TestClock.setTime(Date.parse(scenario.begins))
      yield* repeatOn(Context.get(yield* Layer.build(Layer.fresh(layer)), Storage))
    }).pipe(Effect.scoped)

  it.effect.prop(
    "leave the same rows on SQLite as in memory",
    { scenario: peopleScenario },
    (drawn) => isRepeated(drawn, sqlite),
    { arbitrary: few },
  )

  it.effect.prop(
    "leave the same rows on PostgreSQL as in memory",
    { scenario: peopleScenario },
    (drawn) => isRepeated(drawn, postgres),
    { arbitrary: few },
  )
})

import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { sweepStaleAgents } from "@tocsin/core/heart/deadAgents/heartbeatIncident"
import { writeServiceHeartbeat } from "@tocsin/core/heart/liveness/outage"
import { namesInForce } from "@tocsin/core/heart/model/OutboxRecord"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inconsistencies } from "./inconsistencies.ts"
import { openReplica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, heartbeatOf, keyOf, send, START_MILLIS } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const a = AgentId.make("a")
const [ONE, OTHER] = ["1".repeat(16), "2".repeat(16)]

const open = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const replica = yield* openReplica(subject, { notifiers: [NotifierName.make("webhook")] })
  yield* TestClock.setTime(START_MILLIS)
  yield* enroll(replica, "a")
  const beat = Effect.fnUntraced(function* (process: string, hostname: string) {
    yield* TestClock.adjust("20 seconds")
    const request = heartbeatOf("a", { observed_at: yield* Instant.now, hostname })
    yield* replica.ingest.heartbeat(keyOf("a"), request, { process })
  })
  const sweep = Effect.gen(function* () {
    yield* transact(replica.storage, writeServiceHeartbeat(defaultRules))
    const asked = { rules: defaultRules, incidents: replica.incidents, limit: 10 }
    return yield* sweepStaleAgents(replica.storage, replica.commits, asked)
  })
  const openKeys = Effect.map(rowsOf(replica, "incidents", { state: "open" }), (rows) =>
    rows.map(({ incident_key }): string => incident_key).toSorted(),
  )
  return { replica, beat, sweep, openKeys }
})

/** Two agents with one key (docs/rules.md#two-agents-with-one-key). */
export const twiceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("two agents with one key", () => {
    it.effect(
      "one incident that holds their checks' firings, and resolves ten minutes after the last return",
      () =>
        Effect.gen(function* () {
          const { beat, openKeys, replica, sweep } = yield* open(subject)
          for (let round = 0; round < 3; round++) {
            yield* beat(ONE, "web-1")
            yield* beat(OTHER, "web-2")
          }
          yield* send(replica, "a", [eventOf(1, { exit_code: 2 })])
          assert.deepStrictEqual(yield* openKeys, ["a/@twice", "a/disk"])
          const items = yield* rowsOf(replica, "outbox")
          assert.sameDeepMembers(
            items.map((item) => [item.summary?.slice(0, 23), namesInForce(item)]),
            [
              ["two agents use the key ", []],
              [undefined, ["parent:a/@twice"]],
            ],
          )
          assert.deepStrictEqual(yield* inconsistencies(replica), [])
          // Both hosts keep reporting, as one process each.
          for (let seconds = 0; seconds < 580; seconds += 20) yield* beat(OTHER, "web-2")
          assert.strictEqual(yield* sweep, 0)
          yield* beat(OTHER, "web-2")
          assert.strictEqual(yield* sweep, 1)
          assert.strictEqual(yield* sweep, 0)
          assert.deepStrictEqual(yield* openKeys, ["a/disk"])
          assert.deepStrictEqual(yield* inconsistencies(replica), [])
          const agent = yield* replica.storage.agent(a)
          assert.strictEqual(agent?.process, OTHER)
          assert.isUndefined(agent?.twice_at)
        }),
    )

    it.effect("the incident is found beside dead agents, and goes with its agent", () =>
      Effect.gen(function* () {
        const { beat, openKeys, replica, sweep } = yield* open(subject)
        yield* enroll(replica, "b")
        for (const process of [ONE, OTHER, ONE]) yield* beat(process, "web-1")
        assert.deepStrictEqual(yield* openKeys, ["a/@twice"])
        for (let minute = 0; minute < 10; minute++) {
          yield* TestClock.adjust("1 minute")
          yield* transact(replica.storage, writeServiceHeartbeat(defaultRules))
        }
        assert.deepStrictEqual(
          yield* replica.storage.staleAgents(Instant.fromMillis(0), 10, yield* Instant.now),
          [a],
        )
        assert.deepStrictEqual(yield* replica.storage.staleAgents(Instant.fromMillis(0), 10), [])
        assert.strictEqual(yield* sweep, 2)
        assert.deepStrictEqual(yield* openKeys, ["a/@heartbeat", "b/@heartbeat"])
        for (const process of [ONE, OTHER, ONE]) yield* beat(process, "web-1")
        assert.deepStrictEqual(yield* openKeys, ["a/@twice", "b/@heartbeat"])
        yield* replica.admission.remove(a)
        assert.deepStrictEqual(yield* openKeys, ["b/@heartbeat"])
        assert.deepStrictEqual(yield* inconsistencies(replica), [])
      }),
    )
  })
}

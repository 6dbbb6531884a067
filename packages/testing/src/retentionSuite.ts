import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { replay } from "@tocsin/core/heart/notifications/release"
import type { RetentionName } from "@tocsin/core/lists/retention/RetentionRules"
import { Effect } from "effect"
import { expireAll } from "./expireAll.ts"
import { rowOf } from "./observe.ts"
import { race } from "./race.ts"
import {
  atMost,
  ALERT_RECEIVERS,
  alertRecord,
  incidentIdOf,
  incidentRecord,
  memberRecord,
  outboxIdOf,
  outboxRecord,
  write,
} from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { start } from "./samples.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"
import { range } from "./numbers.ts"

const at = (n: number) => Instant.fromMicros(start + BigInt(n))

/** Runs a rule to its end in pieces of a given size. */
const expire = ({ storage }: Replica, rule: RetentionName, before: Instant.Instant, limit = 100) =>
  expireAll(storage, { rule, before, limit })

/** The first piece of a rule. */
const firstPiece = ({ storage }: Replica, rule: RetentionName, before: Instant.Instant, limit: number) =>
  storage.expire({ rule, before, after: undefined, limit })

const resolved = (n: number): Partial<IncidentRecord> => ({
  state: "resolved",
  resolved_at: at(n),
  opened_at: at(-9),
})

/** An incident with past members, a change for each, and an alert at each receiver. */
const putIncident = (unit: UnitOfWork, name: string, changes: Partial<IncidentRecord>, members = 1): void => {
  unit.incidents.put(incidentRecord(name, changes))
  for (const receiver of ALERT_RECEIVERS) unit.alerts.put(alertRecord(name, { receiver }))
  for (const n of range(members)) {
    const agent = n === 0 ? "a" : `a-${n}`
    unit.members.put(memberRecord({ incident: name, agent, check: "disk" }, { left_at: start }))
    unit.recordChange({
      incident_id: incidentIdOf(name),
      seq: n + 1,
      changed_at: start,
      change: "left",
      agent_id: AgentId.make(agent),
      check_id: CheckId.make("disk"),
      severity: "critical",
      incident_severity: undefined,
      is_late: undefined,
    })
  }
}

const describeIncidents = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("incidents resolved before the bound, with their members, changes and alerts", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* write(replica, [], (unit) => {
        putIncident(unit, "open", { opened_at: at(-9) })
        for (const n of range(4)) putIncident(unit, `resolved ${n}`, resolved(n))
      })
      // Each has a member, a change and two alerts.
      assert.strictEqual(yield* expire(replica, "incidents", at(2), 1), 2 * 5)
      const left = ["open", "resolved 2", "resolved 3"].map(incidentIdOf)
      const found = (yield* rowsOf(replica, "incidents")).map((row) => row.id)
      assert.sameMembers(found, left)
      assert.isUndefined(yield* replica.storage.incident(incidentIdOf("resolved 0"), atMost(10)))
      const scenario = yield* replica.storage.incident(incidentIdOf("resolved 2"), atMost(10))
      assert.deepStrictEqual([scenario?.members.length, scenario?.changes.length], [1, 1])
      const ofAgent = yield* rowsOf(replica, "incidents", { agent_id: AgentId.make("a") })
      assert.strictEqual(ofAgent.length, 3)
      for (const receiver of ALERT_RECEIVERS) {
        const gone = { receiver, incident_id: incidentIdOf("resolved 1"), severity: "critical" } as const
        assert.isUndefined(yield* rowOf(replica, "alert", gone))
      }
      assert.strictEqual(yield* expire(replica, "incidents", at(2), 10), 0)
    }),
  )

  it.effect("incidents in pieces of rows, even when one has more members and changes than a piece", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const [members, limit] = [40, 25]
      yield* write(replica, [], (unit) => {
        for (const n of range(3)) putIncident(unit, `large ${n}`, resolved(n), members)
      })
      let after: string | undefined
      let isMore = true
      const pieces: Array<number> = []
      while (isMore) {
        const piece = { rule: "incidents", before: at(100), after, limit } as const
        const result = yield* replica.storage.expire(piece)
        pieces.push(result.removed)
        ;({ after, isMore } = result)
      }
      const rows = 3 * (2 * members + 3)
      assert.isTrue(pieces.every((removed) => removed <= limit))
      assert.strictEqual(
        pieces.reduce((sum, removed) => sum + removed, 0),
        rows,
      )
      assert.deepStrictEqual(yield* rowsOf(replica, "incidents"), [])
    }),
  )

  it.effect("no incident with a notification that has not ended", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const states = ["pending", "sending", "sent", "retry", "failed", "discarded"] as const
      yield* write(replica, [], (unit) => {
        for (const state of states) {
          putIncident(unit, state, resolved(0))
          unit.outbox.put(outboxRecord(state, state, inState(state)))
        }
      })
      yield* expire(replica, "incidents", at(100), 4)
      const left = (yield* rowsOf(replica, "incidents")).map((row) => row.id)
      assert.sameMembers(left, ["pending", "sending", "retry"].map(incidentIdOf))
      for (const id of left) {
        const scenario = yield* replica.storage.incident(id, atMost(10))
        assert.deepStrictEqual([scenario?.members.length, scenario?.changes.length], [1, 1])
      }
    }),
  )
}

const describeReplays = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "incidents: none expires while one of its notifications is replayed" }, (replica) =>
    Effect.gen(function* () {
      const names = range(24).map((n) => `incident ${n}`)
      yield* write(replica(0), [], (unit) => {
        for (const name of names) {
          putIncident(unit, name, resolved(0), 3)
          unit.outbox.put(outboxRecord(name, name, { ...inState("failed"), event_type: "resolved" }))
        }
      })
      const replayed = (n: number) =>
        Effect.forEach(names, (name) =>
          transact(replica(n).storage, replay(outboxIdOf(name), signedBy("ann"))),
        )
      const [outcomes] = yield* Effect.all(
        [
          replayed(0),
          expire(replica(1), "incidents", at(100), 5),
          expire(replica(2), "incidents", at(100), 5),
        ],
        { concurrency: "unbounded" },
      )
      const left = new Set((yield* rowsOf(replica(3), "incidents")).map((row) => row.id))
      const states = new Map((yield* rowsOf(replica(3), "outbox")).map((row) => [row.id, row.state]))
      for (const [n, outcome] of outcomes.entries()) {
        const name = names[n] ?? ""
        assert.include(["replayed", "incident_expired"], outcome)
        assert.strictEqual(left.has(incidentIdOf(name)), outcome === "replayed")
        assert.strictEqual(states.get(outboxIdOf(name)), outcome === "replayed" ? "pending" : "failed")
      }
    }),
  )
}

const isEnded = (state: OutboxRecord["state"]): boolean =>
  state === "sent" || state === "failed" || state === "discarded"

const inState = (state: OutboxRecord["state"]): Partial<OutboxRecord> => ({
  state,
  next_attempt_at: state === "pending" || state === "retry" ? start : undefined,
  leased_until: state === "sending" ? start : undefined,
})

const describeOutbox = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("outbox items that ended before the bound, of incidents that resolved before it", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const states = ["pending", "sending", "sent", "retry", "failed", "discarded"] as const
      yield* write(replica, [], (unit) => {
        putIncident(unit, "old", resolved(-2))
        putIncident(unit, "held", resolved(-2))
        putIncident(unit, "recent", resolved(0))
        putIncident(unit, "open", { opened_at: at(-9) })
        for (const state of states) {
          const row = { ...inState(state), created_at: at(-5) }
          const others = isEnded(state) ? ["old"] : []
          for (const incident of ["held", "recent", "open", "gone", ...others])
            unit.outbox.put(outboxRecord(`${incident} ${state}`, incident, { ...row, updated_at: at(-1) }))
          if (isEnded(state))
            unit.outbox.put(outboxRecord(`old, new ${state}`, "old", { ...row, updated_at: at(0) }))
        }
      })
      // An item without an incident cannot be sent in any state.
      assert.strictEqual(yield* expire(replica, "outbox", at(0), 4), 3 + states.length)
      const left = (yield* rowsOf(replica, "outbox")).map((row) => row.id)
      const expected = states.flatMap((state) => [
        `recent ${state}`,
        `open ${state}`,
        `held ${state}`,
        ...(isEnded(state) ? [`old, new ${state}`] : []),
      ])
      assert.sameMembers(left, expected.map(outboxIdOf))
      assert.strictEqual(yield* expire(replica, "outbox", at(0), 1), 0)
    }),
  )

  it.effect("a piece reads a bounded number of outbox items, even when an open incident keeps them all", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* write(replica, [], (unit) => {
        putIncident(unit, "open", { opened_at: at(-9) })
        putIncident(unit, "old", resolved(-2))
        const row = { ...inState("sent"), created_at: at(-5), updated_at: at(-5) }
        for (const n of range(10)) {
          unit.outbox.put(outboxRecord(`kept ${n}`, "open", row))
          unit.outbox.put(outboxRecord(`expired ${n}`, "old", row))
        }
      })
      assert.isAtMost((yield* firstPiece(replica, "outbox", at(0), 3)).removed, 3)
      yield* expire(replica, "outbox", at(0), 3)
      const left = (yield* rowsOf(replica, "outbox")).map((row) => row.id)
      assert.sameMembers(
        left,
        range(10).map((n) => outboxIdOf(`kept ${n}`)),
      )
    }),
  )
}

/** Retention removes rows that outlive their time, and nothing else: the rules of `RetentionRules`. */
export const retentionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("retention", () => {
    describeIncidents(subject)
    describeReplays(subject)
    describeOutbox(subject)
  })
}

import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { assert, describe, it } from "@effect/vitest"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { evaluateDueIncidents } from "@tocsin/core/heart/evaluation/evaluateIncidents"
import { Effect, identity, Result } from "effect"
import { TestClock } from "effect/testing"
import { search } from "./observe.ts"
import { after, ENDED } from "./outboxItems.ts"
import {
  agentRecord,
  incidentIdOf,
  incidentRecord,
  memberRecord,
  ONE_CRITICAL,
  outboxRecord,
  write,
} from "./records.ts"
import { atOnce, race } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { START_MILLIS } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const RECEIVERS = ["debug", "pager"]
const ROUTES = [
  { match: ["hostname glob db-*"], steps: [{ to: ["debug"] }, { after: "15m", to: ["pager"] }] },
]

const look = (replica: Replica, limit = 500) => {
  const policy = compilePolicy(Result.getOrThrow(readPolicy({ routes: ROUTES }, RECEIVERS)), RECEIVERS)
  const evaluate = evaluateDueIncidents({ ...replica.incidents, policy: () => policy }, limit)
  return Effect.map(transact(replica.storage, evaluate), ({ found }) => found)
}

/** An open incident of one member on a host `db-1`, whose next evaluation is due. */
const putDue = (replica: Replica, names: ReadonlyArray<string>) =>
  write(replica, [{ agents: [AgentId.make("db")] }], (unit) => {
    unit.putAgent(agentRecord("db", { hostname: "db-1" }))
    for (const name of names) {
      unit.incidents.put(incidentRecord(name, { ...ONE_CRITICAL, next_evaluation_at: after(0) }))
      // The first step was notified.
      unit.outbox.put(outboxRecord(name, name, ENDED))
      unit.members.put(memberRecord({ incident: name, agent: "db", check: "disk" }))
    }
  })

const toPager = (replica: Replica) =>
  Effect.map(rowsOf(replica, "outbox"), (items) => items.filter(({ receiver }) => receiver === "pager"))

/** The timers of incidents. */
export const timerSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("timers", () => {
    it.effect("finds incidents whose next evaluation is due, longest due first", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START_MILLIS)
        const replica = yield* openReplica(subject)
        yield* write(replica, [], (unit) => {
          for (const [name, seconds] of Object.entries({ late: -5, later: -60, now: 0, "not yet": 1 }))
            unit.incidents.put(incidentRecord(name, { next_evaluation_at: after(seconds) }))
          unit.incidents.put(incidentRecord("never"))
          // A replica of an earlier version resolves incidents without clearing it.
          const resolved = {
            state: "resolved",
            resolved_at: after(0),
            next_evaluation_at: after(-9),
          } as const
          unit.incidents.put(incidentRecord("resolved", resolved))
        })
        const found = (limit: number) => search(replica, "dueIncidents", { limit }, identity)
        assert.deepStrictEqual(yield* found(10), ["later", "late", "now"].map(incidentIdOf))
        assert.deepStrictEqual(yield* found(2), ["later", "late"].map(incidentIdOf))
      }),
    )

    it.effect("finds the first loud present members of incidents, worst first, with their agents", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* write(replica, [{ agents: [AgentId.make("a")] }], (unit) => {
          unit.putAgent(agentRecord("a", { hostname: "host-a", labels: { team: "db" } }))
          for (const name of ["several", "silent", "of a deleted agent"])
            unit.incidents.put(incidentRecord(name))
          const several = (check: string, agent = "a") => ({ incident: "several", agent, check })
          unit.members.put(memberRecord(several("silent"), { is_loud: false }))
          unit.members.put(memberRecord(several("left"), { left_at: after(0) }))
          unit.members.put(memberRecord(several("first"), { severity: "unknown", change_seq: 3 }))
          unit.members.put(memberRecord(several("latest"), { severity: "unknown", change_seq: 4 }))
          unit.members.put(memberRecord(several("mild"), { severity: "warning", change_seq: 5 }))
          unit.members.put(memberRecord({ incident: "silent", agent: "a", check: "c" }, { is_loud: false }))
          unit.members.put(memberRecord({ incident: "of a deleted agent", agent: "gone", check: "c" }))
        })
        const incidents = ["several", "silent", "of a deleted agent", "unknown"].map(incidentIdOf)
        const found = (limit: number) =>
          search(
            replica,
            "loudMembers",
            incidents.map((incident_id) => ({ incident_id, limit })),
            (loud) =>
              incidents.map((id) =>
                loud.get(id)?.map(({ agent, member }) => [member.check_id, agent?.hostname, agent?.labels]),
              ),
          )
        const latest = ["latest", "host-a", { team: "db" }]
        const ofDeleted = [["c", undefined, undefined]]
        assert.deepStrictEqual(yield* found(1), [[latest], undefined, ofDeleted, undefined])
        const several = [latest, ["first", "host-a", { team: "db" }], ["mild", "host-a", { team: "db" }]]
        assert.deepStrictEqual(yield* found(9), [several, undefined, ofDeleted, undefined])
      }),
    )

    it.effect("act in bounded pieces, and look again only when something is due", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START_MILLIS)
        const replica = yield* openReplica(subject)
        yield* putDue(replica, ["one", "two", "three"])
        assert.strictEqual(yield* look(replica, 2), 2)
        assert.strictEqual(yield* look(replica, 2), 1)
        assert.strictEqual(yield* look(replica, 2), 0)
        assert.deepStrictEqual(yield* toPager(replica), [])
        yield* TestClock.adjust("15 minutes")
        assert.strictEqual(yield* look(replica), 3)
        assert.deepStrictEqual(
          (yield* toPager(replica)).map(({ cause, receiver }) => [receiver, cause]),
          Array.from({ length: 3 }, () => ["pager", "escalation"]),
        )
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* look(replica), 0)
      }),
    )

    race(subject, { name: "looking at the same moment acts once" }, (replica) =>
      Effect.gen(function* () {
        const names = Array.from({ length: 20 }, (_, n) => `incident ${n}`)
        yield* putDue(replica(0), names)
        yield* Effect.forEach([0, 1, 2, 3, 4, 5], (n) => look(replica(n), 10), atOnce)
        yield* look(replica(1))
        const items = yield* toPager(replica(1))
        assert.strictEqual(items.length, names.length)
        assert.strictEqual(new Set(items.map(({ incident_id }) => incident_id)).size, names.length)
      }),
    )
  })
}

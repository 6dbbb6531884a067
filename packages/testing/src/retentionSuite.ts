import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/core/contract/Identifiers"
import * as Instant from "@tocsin/core/contract/Instant"
import type { RetentionBounds } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { observe } from "./observe.ts"
import { race } from "./race.ts"
import {
  agentRecord,
  alertRecord,
  incidentIdOf,
  incidentRecord,
  memberRecord,
  outboxRecord,
  write,
} from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { eventId, eventOf, start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const FOR_EVER: RetentionBounds = { history: undefined, incidents: undefined, outbox: undefined }
const at = (n: number) => Instant.fromMicros(start + BigInt(n))
const range = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, n) => n)

/** An agent whose check `disk` has rows received at the instants 0 to 5, and `cpu` one at 0. */
const putHistory = (replica: Replica, name: string) => {
  const agent = agentRecord(name)
  const { agent_id, registration_id } = agent
  return replica.storage.transact(function* (workspace) {
    yield { agents: [agent_id] }
    workspace.putAgent(agent)
    for (const n of range(6))
      workspace.store({ ...eventOf(n), agent_id, registration_id, received_at: at(n) })
    const cpu = eventOf(9, { check_id: "cpu" })
    workspace.store({ ...cpu, agent_id, registration_id, received_at: at(0) })
  })
}

const eventsOf = (replica: Replica, ...numbers: ReadonlyArray<number>) =>
  Effect.map(rowsOf(replica, "history"), (rows) => {
    const names = new Map(numbers.map((n) => [eventId(n), n]))
    return rows.map((row) => names.get(row.event_id))
  })

const describeHistory = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("history: what was received before, but for the newest row of each check, in pieces", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const { expire } = replica.storage
      yield* putHistory(replica, "a")
      const all = range(10)
      assert.strictEqual(yield* expire({ ...FOR_EVER, history: at(0) }, 100), 0)
      assert.strictEqual(yield* expire(FOR_EVER, 100), 0)
      assert.strictEqual(yield* expire({ ...FOR_EVER, history: at(3) }, 2), 2)
      assert.strictEqual((yield* eventsOf(replica, ...all)).length, 5)
      assert.strictEqual(yield* expire({ ...FOR_EVER, history: at(3) }, 2), 1)
      assert.deepStrictEqual(yield* eventsOf(replica, ...all), [9, 5, 4, 3])
      assert.strictEqual(yield* expire({ ...FOR_EVER, history: at(100) }, 100), 2)
      assert.deepStrictEqual(yield* eventsOf(replica, ...all), [9, 5])
      assert.strictEqual(yield* expire({ ...FOR_EVER, history: at(100) }, 100), 0)
      const agent_id = AgentId.make("a")
      const known = yield* observe(
        replica,
        [{ agents: [agent_id] }, { history: { agent_id, event_ids: all.map(eventId) } }],
        ({ agents, knownEvents }) =>
          all.filter((n) =>
            knownEvents.has((agents.get(agent_id) ?? agentRecord("b")).registration_id, eventId(n)),
          ),
      )
      assert.deepStrictEqual(known, [5, 9])
    }),
  )

  race(subject, { name: "history: expired from several sides at once, each row once" }, (replica) =>
    Effect.gen(function* () {
      const names = range(8).map((n) => `agent-${n}`)
      yield* Effect.forEach(names, (name) => putHistory(replica(0), name))
      const expire = Effect.fnUntraced(function* (n: number) {
        let expired = 0
        for (;;) {
          const count = yield* replica(n).storage.expire({ ...FOR_EVER, history: at(100) }, 3)
          expired += count
          if (count < 3) return expired
        }
      })
      const counts = yield* Effect.forEach(range(4), expire, { concurrency: "unbounded" })
      // A side may stop early where another one holds the last rows.
      const sum = counts.reduce((total, count) => total + count, yield* expire(0))
      assert.strictEqual(sum, names.length * 5)
      assert.strictEqual((yield* rowsOf(replica(1), "history")).length, names.length * 2)
    }),
  )
}

const describeIncidents = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("incidents: those resolved before, with their members, story and alerts", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const resolved = (n: number) => ({ state: "resolved", resolved_at: at(n), opened_at: at(-9) }) as const
      yield* write(replica, [], (workspace) => {
        workspace.incidents.put(incidentRecord("open"))
        for (const n of range(4)) workspace.incidents.put(incidentRecord(`resolved ${n}`, resolved(n)))
        for (const name of ["open", ...range(4).map((n) => `resolved ${n}`)]) {
          workspace.members.put(
            memberRecord({ incident: name, agent: "a", check: "disk" }, { left_at: start }),
          )
          workspace.alerts.put(alertRecord(name))
          workspace.tell({
            incident_id: incidentIdOf(name),
            seq: 1,
            changed_at: start,
            change: "left",
            agent_id: AgentId.make("a"),
            check_id: eventOf(0).check_id,
            severity: "critical",
            incident_severity: undefined,
          })
        }
      })
      const bounds = { ...FOR_EVER, incidents: at(2) }
      let expired = 1
      while (expired > 0) expired = yield* replica.storage.expire(bounds, 1)
      const left = ["open", "resolved 2", "resolved 3"].map(incidentIdOf)
      const found = (yield* rowsOf(replica, "incidents")).map((row) => row.id)
      assert.sameMembers(found, left)
      assert.isUndefined(yield* replica.storage.incident(incidentIdOf("resolved 0"), 10))
      const story = yield* replica.storage.incident(incidentIdOf("resolved 2"), 10)
      assert.deepStrictEqual([story?.members.length, story?.changes.length], [1, 1])
      const ofAgent = yield* rowsOf(replica, "incidents", { agent_id: AgentId.make("a") })
      assert.strictEqual(ofAgent.length, 3)
      const gone = { incident_id: incidentIdOf("resolved 1"), severity: "critical" } as const
      assert.isUndefined(yield* observe(replica, [{ alerts: [gone] }], ({ alerts }) => alerts.get(gone)))
      assert.strictEqual(yield* replica.storage.expire(bounds, 10), 0)
    }),
  )

  it.effect("outbox: items that ended before, and none that still has to go out", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const states = ["pending", "sending", "sent", "retry", "failed", "discarded"] as const
      yield* write(replica, [], (workspace) => {
        workspace.incidents.put(incidentRecord("x"))
        for (const state of states) {
          const isWaiting = state === "pending" || state === "retry"
          const row = {
            state,
            next_attempt_at: isWaiting ? start : undefined,
            leased_until: state === "sending" ? start : undefined,
          }
          workspace.outbox.put(outboxRecord(`old ${state}`, "x", { ...row, updated_at: at(-1) }))
          workspace.outbox.put(outboxRecord(`new ${state}`, "x", { ...row, updated_at: at(0) }))
        }
      })
      const { expire } = replica.storage
      assert.strictEqual(yield* expire({ ...FOR_EVER, outbox: at(0) }, 2), 2)
      assert.strictEqual(yield* expire({ ...FOR_EVER, outbox: at(0) }, 2), 1)
      assert.strictEqual(yield* expire({ ...FOR_EVER, outbox: at(0) }, 2), 0)
      const left = (yield* rowsOf(replica, "outbox")).map((row) => `${row.state} ${row.updated_at - start}`)
      assert.sameMembers(left, [
        ...states.map((state) => `${state} 0`),
        ...["pending", "sending", "retry"].map((state) => `${state} -1`),
      ])
    }),
  )
}

/** What outlives its time goes, and nothing else (decisions §10). */
export const retentionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("retention", () => {
    describeHistory(subject)
    describeIncidents(subject)
  })
}

import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { IntegrationName } from "@tocsin/contract/integrations/Integrations"
import * as Instant from "@tocsin/contract/formats/Instant"
import { writeServiceHeartbeat } from "@tocsin/core/heart/liveness/outage"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { sweepStaleAgents } from "@tocsin/core/heart/deadAgents/heartbeatIncident"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inconsistencies } from "./inconsistencies.ts"
import { search } from "./observe.ts"
import { race } from "./race.ts"
import {
  atMost,
  agentRecord,
  incidentIdOf,
  incidentRecord,
  memberRecord,
  outboxRecord,
  write,
} from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, heartbeatOf, keyOf, send, start, START_MILLIS } from "./samples.ts"
import { at, pending, silentAgentSuite } from "./silentAgentSuite.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const [a, disk] = [AgentId.make("a"), CheckId.make("disk")]

const describeSearches = <Place>(subject: StorageUnderTest<Place>): void => {
  silentAgentSuite(subject)

  it.effect("the summary: right after the clock was set back and forward while agents reported", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* TestClock.setTime(START_MILLIS)
      yield* enroll(replica, "a", "b")
      const agents = Effect.map(replica.queries.summary, ({ agents_online, agents_offline }) => ({
        agents_online,
        agents_offline,
      }))
      assert.deepStrictEqual(yield* agents, { agents_online: 2, agents_offline: 0 })
      yield* TestClock.setTime(START_MILLIS - 600_000)
      yield* replica.ingest.heartbeat(keyOf("a"), heartbeatOf("a"))
      yield* TestClock.setTime(START_MILLIS + 1_000)
      assert.deepStrictEqual(yield* agents, { agents_online: 1, agents_offline: 1 })
    }),
  )

  it.effect("the summary: of the present moment while the clock is set back", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* TestClock.setTime(START_MILLIS)
      yield* enroll(replica, "a")
      yield* Effect.all([replica.queries.summary, replica.queries.overview])
      const back = START_MILLIS - 600_000
      yield* TestClock.setTime(back)
      yield* enroll(replica, "b")
      for (const read of [replica.queries.summary, replica.queries.overview]) {
        const { agents_offline, agents_online, generated_at } = yield* read
        assert.deepStrictEqual([agents_online + agents_offline, generated_at], [2, Instant.fromMillis(back)])
      }
    }),
  )

  it.effect("the overview: agents of integrations, unless their key is blocked", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* TestClock.setTime(START_MILLIS)
      const counts = Effect.map(replica.queries.overview, ({ agents_online, integration_agents }) => [
        agents_online,
        integration_agents,
      ])
      const name = IntegrationName.make("cron")
      yield* enroll(replica, "a")
      assert.deepStrictEqual(yield* counts, [1, 0])
      yield* replica.integrations.create({ name, kind: "ping" })
      assert.deepStrictEqual(yield* counts, [2, 1])
      yield* replica.admission.block(name)
      assert.deepStrictEqual(yield* counts, [1, 0])
      yield* replica.integrations.rotate(name, {})
      assert.deepStrictEqual(yield* counts, [2, 1])
      yield* replica.integrations.remove(name)
      assert.deepStrictEqual(yield* counts, [1, 0])
    }),
  )

  it.effect("idle pending agents: pending, last seen at or before the bound", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* write(replica, [], (unit) => {
        for (const [name, micros] of [
          ["then", 0n],
          ["earlier", -1n],
          ["after", 1n],
        ] as const) {
          unit.agents.put(agentRecord(name, { ...at(micros), ...pending(name) }))
        }
        unit.agents.put(agentRecord("accepted", at(-1n)))
      })
      const idle = (limit: number) =>
        search(replica, "idlePendingAgents", { seenBefore: start, limit }, (found) =>
          found.map((id): string => id),
        )
      assert.sameMembers(yield* idle(10), ["then", "earlier"])
      assert.strictEqual((yield* idle(1)).length, 1)
    }),
  )

  it.effect("the service heartbeat: none at first, then the latest", () =>
    Effect.gen(function* () {
      const { storage } = yield* openReplica(subject)
      assert.isUndefined(yield* storage.serviceHeartbeat)
      yield* TestClock.setTime(START_MILLIS)
      yield* transact(storage, writeServiceHeartbeat(defaultRules))
      yield* TestClock.adjust("1 hour")
      yield* transact(storage, writeServiceHeartbeat(defaultRules))
      const now = Instant.fromMillis(START_MILLIS + 3_600_000)
      assert.deepStrictEqual(yield* storage.serviceHeartbeat, {
        name: "service",
        beat_at: now,
        outage_began_at: Instant.fromMillis(START_MILLIS),
        outage_ended_at: now,
      })
    }),
  )
}

const describeSweeps = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "each dead agent opens one incident in concurrent sweeps" }, (replica) =>
    Effect.gen(function* () {
      const names = Array.from({ length: 30 }, (_, n) => `agent-${n}`)
      yield* write(replica(0), [], (unit) => {
        for (const name of names) unit.agents.put(agentRecord(name))
      })
      const sweep = (n: number) =>
        sweepStaleAgents(replica(n).storage, replica(n).commits, {
          rules: defaultRules,
          incidents: replica(n).incidents,
          limit: 7,
        })
      const counts = yield* Effect.forEach(
        Array.from({ length: 12 }),
        (_, n) => Effect.all([sweep(n), sweep(n)]),
        {
          concurrency: "unbounded",
        },
      )
      // Several look for the same agents, so some may be left for the next round.
      let [opened, more] = [counts.flat().reduce((sum, count) => sum + count, 0), 1]
      while (more > 0) opened += more = yield* sweep(0)
      assert.strictEqual(opened, names.length)
      const incidents = yield* rowsOf(replica(1), "incidents", { state: "open" })
      assert.deepStrictEqual(
        incidents.map((row): string | undefined => row.agent_id).toSorted(),
        names.toSorted(),
      )
      assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
    }),
  )

  race(subject, { name: "service heartbeats of several replicas never go back" }, (replica) =>
    Effect.gen(function* () {
      const serviceHeartbeats = yield* Effect.forEach(
        Array.from({ length: 20 }),
        (_, n) =>
          Effect.andThen(
            transact(replica(n).storage, writeServiceHeartbeat(defaultRules)),
            replica(n).storage.serviceHeartbeat,
          ),
        { concurrency: "unbounded" },
      )
      const last = (yield* replica(0).storage.serviceHeartbeat)?.beat_at ?? 0n
      assert.isTrue(
        serviceHeartbeats.every(
          (serviceHeartbeat) => serviceHeartbeat !== undefined && serviceHeartbeat.beat_at <= last,
        ),
      )
    }),
  )
}

const report = (replica: Replica) =>
  Effect.forEach([0, 1, 2], (n) => send(replica, "a", [eventOf(n, { exit_code: n, incident_key: "shared" })]))

const describeReads = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("check: the one of the current registration, or none", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* enroll(replica, "a")
      yield* report(replica)
      assert.strictEqual((yield* replica.storage.check(a, disk))?.exit_code, 2)
      assert.isUndefined(yield* replica.storage.check(a, CheckId.make("Disk")))
      assert.isUndefined(yield* replica.storage.check(AgentId.make("b"), disk))
      yield* replica.admission.remove(a)
      assert.isUndefined(yield* replica.storage.check(a, disk))
      yield* enroll(replica, "a")
      assert.isUndefined(yield* replica.storage.check(a, disk))
    }),
  )

  it.effect("incident: members, present and worst first, with the latest changes and items", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const member = (check: string, changes: Parameters<typeof memberRecord>[1]) =>
        memberRecord({ incident: "x", agent: "a", check }, changes)
      yield* write(replica, [], (unit) => {
        unit.incidents.put(incidentRecord("x"))
        unit.incidents.put(incidentRecord("y"))
        unit.members.put(member("left-long-ago", { change_seq: 1, left_at: start }))
        unit.members.put(member("left", { change_seq: 9, left_at: start }))
        unit.members.put(member("unknown", { change_seq: 8, severity: "unknown" }))
        unit.members.put(member("older", { change_seq: 2 }))
        unit.members.put(member("newer", { change_seq: 3 }))
        unit.members.put(memberRecord({ incident: "y", agent: "a", check: "other" }))
        for (const n of [1, 2, 3, 4]) {
          unit.outbox.put(outboxRecord(`item ${n}`, n === 4 ? "y" : "x", { incident_seq: n }))
          unit.recordChange({
            incident_id: incidentIdOf(n === 4 ? "y" : "x"),
            seq: n,
            changed_at: start,
            change: "joined",
            agent_id: a,
            check_id: disk,
            severity: "critical",
            incident_severity: "critical",
            is_late: undefined,
          })
        }
      })
      const scenario = (limit: number) =>
        Effect.map(replica.storage.incident(incidentIdOf("x"), atMost(limit)), (found) => ({
          id: found?.incident.id,
          members: found?.members.map((row): string => row.check_id),
          changes: found?.changes.map((row) => row.seq),
          outbox: found?.outbox.map((row) => row.incident_seq),
        }))
      const members = ["newer", "older", "unknown", "left", "left-long-ago"]
      const id = incidentIdOf("x")
      assert.deepStrictEqual(yield* scenario(10), { id, members, changes: [3, 2, 1], outbox: [3, 2, 1] })
      assert.deepStrictEqual(yield* scenario(2), {
        id,
        members: members.slice(0, 2),
        changes: [3, 2],
        outbox: [3, 2],
      })
      assert.isUndefined(yield* replica.storage.incident(incidentIdOf("none"), atMost(10)))
    }),
  )
}

/** Dead agents, service heartbeats, and single rows (docs/rules.md#outages-of-the-service, docs/rules.md#events). */
export const livenessSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("liveness and single rows", () => {
    describeSearches(subject)
    describeSweeps(subject)
    describeReads(subject)
  })
}

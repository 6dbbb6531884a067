import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { Severity } from "@tocsin/contract/formats/Status"
import { newExpectation } from "@tocsin/core/heart/model/ExpectationRecord"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect, Exit, Fiber, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { race } from "./race.ts"
import { after, ENDED, enqueue, FAR_OFF, sending } from "./outboxItems.ts"
import {
  agentRecord,
  blockedKeyRecord,
  checkRecord,
  incidentIdOf,
  incidentRecord,
  keyHashOf,
  registrationIdOf,
  write,
} from "./records.ts"
import { newPlace, openReplica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, heartbeatOf, keyOf, register, send, start, START_MILLIS } from "./samples.ts"
import { skippedFor, type StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const a = AgentId.make("a")

const describeReads = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("agent: the one, or none", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* register(replica, "a")
      assert.strictEqual((yield* replica.storage.agent(a))?.hostname, "a.example.org")
      assert.isUndefined(yield* replica.storage.agent(AgentId.make("A")))
    }),
  )

  it.effect(
    "counts: an agent last seen at the bound is offline, pending agents do not count, checks count by status",
    () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const nothing = { agents_online: 0, agents_offline: 0, open_incidents: 0 }
        const noChecks = { checks_ok: 0, checks_warning: 0, checks_critical: 0, checks_unknown: 0 }
        assert.deepStrictEqual(yield* replica.storage.counts(start), { ...nothing, ...noChecks })
        const seen = (name: string, micros: bigint, counts = {}) =>
          agentRecord(name, { last_seen_at: Instant.fromMicros(start + micros), ...counts })
        const pending = {
          admission_state: "pending",
          accepted_key_hash: undefined,
          pending_key_hash: keyHashOf("d"),
        } as const
        yield* write(replica, [], (unit) => {
          unit.agents.put(seen("a", 1n, { checks_ok: 1, checks_warning: 20, checks_unknown: 4_000 }))
          unit.agents.put(seen("b", 0n, { checks_ok: 5, checks_critical: 300 }))
          unit.agents.put(seen("c", -1n))
          unit.agents.put(seen("d", 1n, pending))
          unit.incidents.put(incidentRecord("x"))
          unit.incidents.put(incidentRecord("y"))
          unit.incidents.put(incidentRecord("z", { state: "resolved", resolved_at: start }))
        })
        assert.deepStrictEqual(yield* replica.storage.counts(start), {
          agents_online: 1,
          agents_offline: 2,
          checks_ok: 6,
          checks_warning: 20,
          checks_critical: 300,
          checks_unknown: 4_000,
          open_incidents: 2,
        })
      }),
  )

  it.effect("metricCounts: waiting items, dead agents, open incidents; ended items do not count", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const incidents = { warning: 0, critical: 0, unknown: 0 }
      const none = {
        agents_pending: 0,
        agents_dead: 0,
        keys_blocked: 0,
        late: [],
        withdrawn: 0,
        of_places: [],
      }
      const nothing = { ...none, incidents, backlog: [] }
      assert.deepStrictEqual<unknown>(yield* replica.storage.metricCounts, nothing)
      yield* register(replica, "p", "q")
      yield* write(replica, [], (unit) => {
        unit.agents.put(agentRecord("alive"))
        unit.agents.put(agentRecord("dead", { heartbeat_incident_id: incidentIdOf("x") }))
        unit.keys.put(blockedKeyRecord("blocked"))
        unit.checks.put({ ...checkRecord(agentRecord("alive"), "gone"), withdrawn_at: start })
        unit.checks.put({ ...checkRecord(agentRecord("absent"), "gone"), withdrawn_at: start })
        unit.checks.put({ ...checkRecord(agentRecord("alive"), "watch:page"), is_of_place: true })
        unit.checks.put({ ...checkRecord(agentRecord("absent"), "watch:page"), is_of_place: true })
        unit.incidents.put(incidentRecord("x"))
        unit.incidents.put(incidentRecord("y", { severity: "warning" }))
        unit.incidents.put(incidentRecord("z", { state: "resolved", resolved_at: start }))
      })
      const since = (seconds: number) => ({ created_at: after(seconds), age_starts_at: after(seconds) })
      yield* enqueue(replica, [
        ["late", "a", since(-1)],
        ["first", "b", { ...since(-5), event_type: "resolved" }],
        ["released", "h", { created_at: after(-99), age_starts_at: after(-2) }],
        ["second", "h", { ...since(-3), event_type: "resolved" }],
        ["again", "c", { ...since(-9), state: "retry" }],
        ["being sent", "d", { ...sending(FAR_OFF), notifier: "a_pager" }],
        ["dead letter", "e", { ...ENDED, ...since(-99), state: "failed" }],
        ["sent", "f", ENDED],
        ["discarded", "g", { ...ENDED, state: "discarded" }],
      ])
      assert.deepStrictEqual<unknown>(yield* replica.storage.metricCounts, {
        agents_pending: 2,
        agents_dead: 1,
        keys_blocked: 1,
        incidents: { warning: 1, critical: 9, unknown: 0 },
        late: [],
        withdrawn: 1,
        of_places: [{ status: "ok", checks: 1 }],
        backlog: [
          { notifier: "a_pager", state: "sending", items: 1, waiting_since: start },
          { notifier: "debug", state: "pending", items: 4, waiting_since: after(-5) },
          { notifier: "debug", state: "retry", items: 1, waiting_since: after(-9) },
          { notifier: "debug", state: "failed", items: 1, waiting_since: after(-99) },
        ],
      })
    }),
  )

  it.effect("metricCounts: late checks by their last status and severity, once each, of present agents", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const agent = agentRecord("a")
      const late = (check: string, severity: Severity, registration = agent.registration_id) => ({
        ...newExpectation(
          { agent_id: agent.agent_id, registration_id: registration, check_id: CheckId.make(check) },
          {
            origin: "agent",
            terms: { after_millis: 60_000, severity, notifications_enabled: true },
            expected_from: start,
          },
        ),
        incident_id: incidentIdOf("x"),
      })
      yield* write(replica, [], (unit) => {
        unit.agents.put(agent)
        for (const check of ["ok", "ok-2", "in-time"]) unit.checks.put(checkRecord(agent, check))
        unit.expectations.put(late("ok", "critical"))
        unit.expectations.put(late("ok-2", "critical"))
        unit.expectations.put({ ...late("in-time", "critical"), incident_id: undefined })
        unit.expectations.put(late("never", "warning"))
        unit.expectations.put(late("deleted", "critical", registrationIdOf("former")))
      })
      const { late: counted } = yield* replica.storage.metricCounts
      assert.sameDeepMembers(Array.from(counted), [
        { status: "ok", severity: "critical", checks: 2 },
        { status: null, severity: "warning", checks: 1 },
      ])
    }),
  )

  it.effect("agentsWithPendingKey: bytewise, after a given agent, up to the limit", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* enroll(replica, "accepted", "rotating")
      yield* replica.ingest.heartbeat(keyOf("rotating second"), heartbeatOf("rotating"))
      const ids = ["a", "B", "a.b", "a-b", "Ab", "_", ":", "9", "a:b", "aB", "10"]
      yield* register(replica, ...ids)
      const sorted = [...ids, "rotating"].toSorted()
      const { agentsWithPendingKey } = replica.storage
      const found = (last: string | undefined, limit: number) =>
        agentsWithPendingKey(last === undefined ? undefined : AgentId.make(last), limit)
      assert.deepStrictEqual<unknown>(yield* found(undefined, 100), sorted)
      assert.deepStrictEqual<unknown>(yield* found(undefined, 3), sorted.slice(0, 3))
      assert.deepStrictEqual<unknown>(yield* found("a", 4), sorted.slice(sorted.indexOf("a") + 1).slice(0, 4))
      assert.deepStrictEqual<unknown>(yield* found("between", 100), ["rotating"])
      assert.deepStrictEqual<unknown>(yield* found("rotating", 100), [])
      yield* replica.admission.acceptAll({ includeRotation: false })
      assert.deepStrictEqual<unknown>(yield* found(undefined, 100), ["rotating"])
    }),
  )

  it.effect("probe: answers", () =>
    Effect.gen(function* () {
      const { storage } = yield* openReplica(subject)
      assert.isUndefined(yield* storage.probe)
    }),
  )

  it.effect("transact: passes the clock's time to the decision and its reply to the caller", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START_MILLIS)
      yield* TestClock.adjust("1 micro")
      const { storage } = yield* openReplica(subject)
      // oxlint-disable-next-line eslint/require-yield -- a decision that has to see nothing
      const reply = yield* transact(storage, function* (_workspace, now) {
        return { now, odd: [undefined, "\0", Number.NaN] }
      })
      assert.deepStrictEqual<unknown>(reply, { now: start + 1n, odd: [undefined, "\0", Number.NaN] })
    }),
  )
}

const describeHints = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "hints: can be subscribed to during commands, and never end" }, (replica) =>
    Effect.gen(function* () {
      const watching = yield* Effect.forkChild(Stream.runDrain(replica(0).storage.hints))
      yield* enroll(replica(1), "a")
      yield* Effect.forEach([1, 2, 3], (n) => send(replica(n), "a", [eventOf(n, { exit_code: n })]))
      yield* Fiber.interrupt(watching)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(watching)))
    }),
  )

  const missing = subject.onlyOneClient ?? subject.noHints
  it.live.skipIf(missing !== undefined)(
    `hints: follow each notification that another client enqueues${skippedFor(missing)}`,
    () =>
      Effect.gen(function* () {
        const open = yield* newPlace(subject)
        const [watcher, writer] = yield* Effect.all([open, open])
        const heard = yield* Queue.unbounded<void>()
        yield* Effect.forkScoped(
          Stream.runForEach(watcher.storage.hints, () => Queue.offer(heard, undefined)),
        )
        yield* enroll(writer, "a")
        // A storage may emit a few extra hints for changes it missed before it listened.
        for (const n of [1, 2, 3, 4]) {
          yield* Queue.clear(heard)
          yield* send(writer, "a", [eventOf(n, { check_id: `check-${n}` })])
          yield* Queue.take(heard)
          assert.strictEqual((yield* rowsOf(watcher, "outbox")).length, n)
        }
      }),
  )
}

const describeEstablish = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("establish: keeps the first value for ever", () =>
    Effect.gen(function* () {
      const { storage } = yield* openReplica(subject)
      assert.strictEqual(yield* storage.establish("pepper_check", "first"), "first")
      assert.strictEqual(yield* storage.establish("pepper_check", "second"), "first")
    }),
  )

  race(subject, { name: "establish: concurrent callers all get the value that is kept" }, (replica) =>
    Effect.gen(function* () {
      const values = Array.from({ length: 20 }, (_, n) => `value ${n}`)
      const kept = yield* Effect.forEach(
        values,
        (value, n) => replica(n).storage.establish("pepper_check", value),
        {
          concurrency: "unbounded",
        },
      )
      assert.deepStrictEqual(Array.from(new Set(kept)), [kept[0]])
      assert.include(values, kept[0])
      assert.strictEqual(yield* replica(0).storage.establish("pepper_check", "late"), kept[0])
    }),
  )
}

/** Methods of the port. Lists, row requests and housekeeping have their own suites. */
export const portSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("port", () => {
    describeReads(subject)
    describeHints(subject)
    describeEstablish(subject)
  })
}

import { assert, describe, it } from "@effect/vitest"
import { keepServiceHeartbeat, repairClocks } from "@tocsin/core/heart/clock/repairClocks"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { ExpectationRecord } from "@tocsin/core/heart/model/ExpectationRecord"
import { UNENDED } from "@tocsin/core/heart/model/OutboxRecord"
import { PieceSizes } from "@tocsin/core/kernel/engine/lists/readPage"
import { writeServiceHeartbeat } from "@tocsin/core/heart/liveness/outage"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { observe, rowOf } from "./observe.ts"
import { after, ENDED, sending } from "./outboxItems.ts"
import {
  agentRecord,
  ALERT_RECEIVERS,
  alertRecord,
  checkRecord,
  incidentIdOf,
  incidentRecord,
  memberRecord,
  outboxIdOf,
  outboxRecord,
  write,
} from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { start, START_MILLIS } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const DAY = 86_400

/** Seconds after a moment a day ahead. */
const ahead = (seconds = 0): Instant.Instant => after(DAY + seconds)

const open = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  yield* TestClock.setTime(START_MILLIS)
  return yield* openReplica(subject)
})

const repairAll = ({ commits, storage }: Replica) => repairClocks(storage, commits, defaultRules)

const TRIED = { first_attempted_at: after(-30) }

const agent = agentRecord("a")
const disk = checkRecord(agent, "disk")

const expectation: ExpectationRecord = {
  agent_id: agent.agent_id,
  registration_id: agent.registration_id,
  check_id: CheckId.make("disk"),
  origin: "agent",
  terms: { every_millis: 60_000, after_millis: 180_000, severity: "unknown", notifications_enabled: true },
  expected_from: start,
  running_since: undefined,
  next_evaluation_at: after(185),
  incident_id: undefined,
  alone_due_at: undefined,
}

const reachedAt = (at: Instant.Instant) => ({
  reached_warning_at: at,
  reached_unknown_at: at,
  reached_critical_at: at,
})

/** The traces of a clock that was ahead, and their repair once the clock is set back. */
export const clockSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("after a clock was set back", () => {
    it.effect(
      "agents were seen and checks have reported by now, and are evaluated when they may be overdue",
      () =>
        Effect.gen(function* () {
          const replica = yield* open(subject)
          const put = (of: typeof agent, check: typeof disk, expected: Partial<ExpectationRecord>) =>
            write(replica, [{ agents: [of.agent_id] }], (unit) => {
              unit.putAgent(of)
              unit.checks.put(check)
              const { agent_id, registration_id } = of
              unit.expectations.put({ ...expectation, agent_id, registration_id, ...expected })
              const labels = { team: "web" }
              unit.of("check_label").put({
                agent_id,
                registration_id,
                check_id: check.check_id,
                labels,
                title: undefined,
                given_title: undefined,
                declared_title: undefined,
                labelled_at: expected.expected_from ?? start,
              })
            })
          yield* put(
            { ...agent, last_seen_at: ahead(), reachable_from: ahead(-60) },
            { ...disk, received_at: ahead() },
            { expected_from: ahead(-90), next_evaluation_at: ahead(185), alone_due_at: ahead() },
          )
          const other = agentRecord("b", { last_seen_at: after(-60), reachable_from: after(-900) })
          const ofOther = { ...checkRecord(other, "disk"), received_at: after(-100) }
          yield* put(other, ofOther, { expected_from: after(-900), next_evaluation_at: ahead(185) })
          yield* repairAll(replica)
          yield* repairAll(replica)
          assert.deepStrictEqual(yield* rowsOf(replica, "agents"), [agent, other])
          assert.deepStrictEqual(yield* rowsOf(replica, "checks"), [disk, ofOther])
          const expectations = yield* replica.storage.rows("expectation", [disk, ofOther])
          assert.deepStrictEqual(
            new Map(
              expectations.map((row) => [
                String(row.agent_id),
                [row.expected_from, row.next_evaluation_at, row.alone_due_at],
              ]),
            ),
            new Map([
              ["a", [start, after(185), start]],
              // It last reported 100 s ago.
              ["b", [after(-900), after(85), undefined]],
            ]),
          )
          const labels = yield* replica.storage.rows("check_label", [disk, ofOther])
          assert.sameMembers(
            labels.map(({ labelled_at }) => labelled_at),
            [start, after(-900)],
          )
        }),
    )

    it.effect("notifications wait as long as they were to, and timers and alerts are due", () =>
      Effect.gen(function* () {
        const replica = yield* open(subject)
        const written = { updated_at: ahead(), age_starts_at: after(-60) }
        const items = {
          tried: { ...written, ...TRIED, state: "retry", attempts: 1, next_attempt_at: ahead(5) },
          new: { age_starts_at: ahead(), next_attempt_at: ahead(), updated_at: ahead() },
          sent: { ...ENDED, ...written, first_attempted_at: ahead(-1) },
          underWay: { ...sending(ahead(60)), ...written, first_attempted_at: ahead() },
          // The storage's clock was right.
          leased: { ...sending(after(50)), ...written, ...TRIED },
          held: { ...written, next_attempt_at: undefined, next_evaluation_at: ahead(60) },
          failed: { ...ENDED, ...written, state: "failed" },
          patient: { ...TRIED, state: "retry", attempts: 9, next_attempt_at: after(14_000) },
        } as const
        yield* write(replica, [], (unit) => {
          const moments = { opened_at: ahead(), next_evaluation_at: ahead(900) }
          unit.incidents.put(incidentRecord("i", { ...moments, ...reachedAt(ahead()) }))
          unit.members.put(memberRecord({ incident: "i", agent: "a", check: "disk" }))
          for (const [name, changes] of Object.entries(items))
            unit.outbox.put(outboxRecord(name, "i", changes))
          for (const receiver of ALERT_RECEIVERS)
            unit.alerts.put(alertRecord("i", { receiver, next_at: ahead(60), leased_until: ahead(60) }))
        })
        yield* repairAll(replica)
        const right = { updated_at: start, age_starts_at: after(-60) }
        const expected = {
          tried: { ...items.tried, ...right, next_attempt_at: after(5) },
          new: { age_starts_at: start, next_attempt_at: start, updated_at: start },
          sent: { ...items.sent, ...right },
          underWay: { ...items.underWay, ...sending(after(60)) },
          leased: items.leased,
          held: { ...items.held, ...right },
          failed: { ...items.failed, updated_at: start, age_starts_at: after(-60 - DAY) },
          patient: items.patient,
        } as const
        const found = yield* rowsOf(replica, "outbox")
        for (const [name, changes] of Object.entries(expected)) {
          const row = found.find(({ id }) => id === outboxIdOf(name))
          assert.deepStrictEqual(row, outboxRecord(name, "i", changes), name)
        }
        assert.deepStrictEqual(yield* rowsOf(replica, "incidents"), [
          incidentRecord("i", { next_evaluation_at: start, ...reachedAt(start) }),
        ])
        const refs = ALERT_RECEIVERS.map((receiver) => alertRecord("i", { receiver }))
        const alerts = yield* observe(replica, [{ rows: { alert: refs } }], (unit) =>
          refs.map((ref) => unit.alerts.get(ref)),
        )
        assert.deepStrictEqual(alerts, refs)
      }),
    )

    it.effect("chores of resolved incidents do not wait for a clock that was ahead", () =>
      Effect.gen(function* () {
        const replica = yield* open(subject)
        const resolved = { state: "resolved", resolved_by: "event" } as const
        const waiting = { event_type: "resolved", next_attempt_at: ahead(), updated_at: ahead() } as const
        yield* write(replica, [], (unit) => {
          unit.incidents.put(incidentRecord("long ago", { ...resolved, resolved_at: after(-9) }))
          unit.incidents.put(incidentRecord("ahead", { ...resolved, resolved_at: ahead() }))
          unit.outbox.put(outboxRecord("of long ago", "long ago", waiting))
          unit.alerts.put(alertRecord("ahead", { ended_at: ahead(), next_at: ahead(60) }))
        })
        yield* repairAll(replica)
        const [item] = yield* rowsOf(replica, "outbox")
        assert.strictEqual(item?.next_attempt_at, start)
        const alert = alertRecord("ahead", { ended_at: start })
        const found = yield* rowOf(replica, "alert", alert)
        assert.deepStrictEqual(found, alert)
      }),
    )

    it.effect("every page of notifications of resolved incidents is repaired, in each state", () =>
      Effect.gen(function* () {
        const replica = yield* open(subject)
        const resolved = { state: "resolved", resolved_by: "event", resolved_at: after(-9) } as const
        const names = UNENDED.flatMap((state) => [1, 2, 3].map((n) => [state, `${state} ${n}`] as const))
        yield* write(replica, [], (unit) => {
          for (const [state, name] of names) {
            unit.incidents.put(incidentRecord(name, resolved))
            const item = outboxRecord(name, name, { event_type: "resolved", age_starts_at: ahead() })
            unit.outbox.put({ ...item, state, next_attempt_at: ahead(), updated_at: ahead() })
          }
        })
        yield* Effect.provideService(repairAll(replica), PieceSizes, { rows: 2, incidents: 2 })
        for (const { age_starts_at, state } of yield* rowsOf(replica, "outbox"))
          assert.strictEqual(age_starts_at, start, state)
      }),
    )

    it.effect(
      "the service heartbeat stays ahead until all is right, so that a crash or another process does not hide it",
      () =>
        Effect.gen(function* () {
          const replica = yield* open(subject)
          const { commits, storage } = replica
          const serviceHeartbeatAt = Effect.map(
            storage.serviceHeartbeat,
            (serviceHeartbeat) => serviceHeartbeat?.beat_at,
          )
          yield* TestClock.setTime(START_MILLIS + DAY * 1_000)
          assert.isFalse(yield* transact(storage, writeServiceHeartbeat(defaultRules)))
          yield* TestClock.setTime(START_MILLIS)
          assert.isTrue(yield* transact(storage, writeServiceHeartbeat(defaultRules)))
          assert.strictEqual(yield* serviceHeartbeatAt, ahead())
          yield* keepServiceHeartbeat(storage, commits, defaultRules)
          assert.strictEqual(yield* serviceHeartbeatAt, start)
          assert.isFalse(yield* transact(storage, writeServiceHeartbeat(defaultRules)))
        }),
    )

    it.effect("a process whose clock was ahead sets right what it wrote after another one had noticed", () =>
      Effect.gen(function* () {
        const replica = yield* open(subject)
        const { commits, storage } = replica
        const right = keepServiceHeartbeat(storage, commits, defaultRules)
        const wrong = keepServiceHeartbeat(storage, commits, defaultRules)
        const opens = (name: string) =>
          write(replica, [], (unit) => unit.incidents.put(incidentRecord(name, { opened_at: ahead() })))
        const openedAt = (name: string) =>
          Effect.map(rowsOf(replica, "incidents"), (rows) =>
            rows.filter(({ id }) => id === incidentIdOf(name)).map(({ opened_at }) => opened_at),
          )
        const aDayAhead = Effect.fnUntraced(function* <A, E>(act: Effect.Effect<A, E>) {
          yield* TestClock.setTime(START_MILLIS + DAY * 1_000)
          yield* act
          yield* TestClock.setTime(START_MILLIS)
        })
        yield* right
        yield* opens("before")
        yield* aDayAhead(wrong)
        yield* right
        assert.deepStrictEqual(yield* openedAt("before"), [start])
        yield* opens("after")
        yield* right
        assert.deepStrictEqual(yield* openedAt("after"), [ahead()])
        yield* wrong
        assert.deepStrictEqual(yield* openedAt("after"), [start])
      }),
    )
  })
}

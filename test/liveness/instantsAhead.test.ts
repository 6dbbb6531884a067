import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { OutboxState } from "@tocsin/contract/formats/Status"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { storedTables } from "@tocsin/core/lists/StoredTables"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import * as fc from "fast-check"
import { AGENT } from "../service/agents.ts"
import { deferred, delivered, hanging } from "../service/Receivers.ts"
import type { Service } from "../service/Service.ts"
import { type Clocks, onShiftedClock } from "../service/ShiftedClock.ts"
import { openTimeline } from "../service/Timeline.ts"

const [SECOND, MINUTE, HOUR] = [1, 60, 3_600]
/** A check is looked at 5 s after it may be overdue, and this scenario's checks have 3 minutes. */
const LONGEST_LOOK = 3 * MINUTE + 5 * SECOND
/** The longest timer of this scenario's policy. */
const LONGEST_TIMER = HOUR
const LONGEST_RETRY = 4 * HOUR * 1.2
const LEASE = MINUTE

/** Other rules let these be in the future: people name them, or their own code knows of a clock that was set back. */
const MAY_BE_AHEAD = "may be ahead"
/** It states what happened when, by the clock of that time. Nothing waits for it. */
const HISTORY = "history"
/** By an agent's clock. */
const SAID = "said"

/**
 * The meaning of each stored moment once it lies in the future because a clock was set back: the
 * seconds by which it may lie there at most, once that is noticed, or why nothing changes it.
 */
const MEANINGS: Readonly<Record<string, number | typeof MAY_BE_AHEAD | typeof HISTORY | typeof SAID>> = {
  "agent.last_seen_at": 0,
  "agent.reachable_from": 0,
  "agent.twice_at": 0,
  "agent.observed_at": SAID,
  "agent.registered_at": HISTORY,
  // A pending key that falls silent keeps its place until then. The next heartbeat sets it right.
  "agent_key.last_seen_at": HISTORY,
  "agent_key.blocked_at": HISTORY,
  "check_state.last_observed_at": SAID,
  // Of checks that must report. Of the others it stays, and counts as now where an operator reads it or resets the clock.
  "check_state.received_at": 0,
  "expectation.expected_from": 0,
  "expectation.next_evaluation_at": LONGEST_LOOK,
  "check_label.labelled_at": 0,
  "expectation.running_since": 0,
  "expectation.alone_due_at": 0,
  "reported_alert.next_evaluation_at": LONGEST_LOOK,
  "mailed_check.sent_at": 0,
  "listed_check.next_evaluation_at": LONGEST_LOOK,
  "agent.listed_as_of": SAID,
  "check_state.withdrawn_at": HISTORY,
  "mailed_check.next_evaluation_at": LONGEST_LOOK,
  "kept_mail.received_at": HISTORY,
  "check_event.observed_at": SAID,
  "check_event.received_at": HISTORY,
  // Of open incidents.
  "incident.opened_at": 0,
  "incident.resolved_at": HISTORY,
  "incident.ack_at": HISTORY,
  "incident.ack_until": MAY_BE_AHEAD,
  "incident.reached_warning_at": 0,
  "incident.reached_unknown_at": 0,
  "incident.reached_critical_at": 0,
  "incident.left_unknown_at": 0,
  "incident.left_critical_at": 0,
  "incident.forgotten_unknown_at": 0,
  "incident.forgotten_critical_at": 0,
  "incident.steps_began_at": 0,
  "incident.next_evaluation_at": LONGEST_TIMER,
  "incident_member.joined_at": HISTORY,
  "incident_member.left_at": HISTORY,
  "incident_change.changed_at": HISTORY,
  "incident_log.logged_at": HISTORY,
  "incident_log.ack_until": HISTORY,
  "outbox.first_attempted_at": HISTORY,
  // Of items that wait, and of those that reminders follow.
  "outbox.next_attempt_at": LONGEST_RETRY,
  "outbox.next_evaluation_at": LONGEST_TIMER,
  "outbox.released_at": HISTORY,
  "outbox.leased_until": LEASE,
  "outbox.age_starts_at": 0,
  "outbox.updated_at": 0,
  "alert.next_at": MINUTE,
  "alert.ended_at": 0,
  "alert.leased_until": LEASE,
  "service_heartbeat.beat_at": MAY_BE_AHEAD,
  "service_heartbeat.outage_began_at": MAY_BE_AHEAD,
  "service_heartbeat.outage_ended_at": MAY_BE_AHEAD,
  "integration.former_valid_until": MAY_BE_AHEAD,
  "integration.last_request_at": HISTORY,
  "integration.last_refused_at": HISTORY,
  "enrolment.expires_at": MAY_BE_AHEAD,
  "watch.paused_until": MAY_BE_AHEAD,
  // One that is ahead is replaced.
  "place.asked_at": MAY_BE_AHEAD,
  // More than a period ahead counts as due.
  "watch.next_probe_at": MAY_BE_AHEAD,
  "watch.probed_at": HISTORY,
  "watch.counted_at": HISTORY,
  "idempotency_key.acted_at": HISTORY,
  "operator.expires_at": MAY_BE_AHEAD,
  "operator.former_valid_until": MAY_BE_AHEAD,
  "operator.last_used_at": HISTORY,
  "session.expires_at": MAY_BE_AHEAD,
  // One that is ahead counts as long ago.
  "phone_call.began_at": MAY_BE_AHEAD,
  "flood_minute.began_at": MAY_BE_AHEAD,
  "monthly_report.due_at": MAY_BE_AHEAD,
  // One that is ahead by more than the longest retry counts as due.
  "monthly_report.next_attempt_at": MAY_BE_AHEAD,
  "push_subscription.expires_at": MAY_BE_AHEAD,
  "push_subscription.taken_at": HISTORY,
  "push_subscription.tested_at": HISTORY,
  // One that is ahead is replaced.
  "push_subscription.shown_at": MAY_BE_AHEAD,
  "audit.recorded_at": HISTORY,
  "audit_subject.recorded_at": HISTORY,
  "replica.started_at": HISTORY,
  "replica.seen_at": MAY_BE_AHEAD,
  "replica.ended_at": MAY_BE_AHEAD,
  "policy_version.applied_at": HISTORY,
  "invitation.operator_since": HISTORY,
  "invitation.expires_at": MAY_BE_AHEAD,
  "invitation.used_at": HISTORY,
  "receiver_secrets.changed_at": HISTORY,
  "setting.changed_at": HISTORY,
  "silence.starts_at": MAY_BE_AHEAD,
  "silence.ends_at": MAY_BE_AHEAD,
  "announcement.starts_at": MAY_BE_AHEAD,
  "announcement.ends_at": MAY_BE_AHEAD,
  "rota_override.starts_at": MAY_BE_AHEAD,
  "rota_override.ends_at": MAY_BE_AHEAD,
}

describe("a stored moment", () => {
  it("has a meaning once it lies in the future", () => {
    const moments = Object.values(storedTables).flatMap(({ columns, name }) =>
      Object.entries(columns)
        .filter(([, { type }]) => type === "instant")
        .map(([column]) => `${name}.${column}`),
    )
    const others = moments.filter((moment) => !moment.endsWith(".created_at"))
    assert.sameMembers(Object.keys(MEANINGS), others)
  })

  it.effect(
    "lies no further ahead than that, whatever happens while a clock is ahead",
    () =>
      forAll(scenarios, { runs: 25 }, (scenario) =>
        Effect.scoped(onShiftedClock((clocks) => play(scenario, clocks))),
      ),
    PROPERTY_TIMEOUT_MILLIS,
  )

  it.effect("lies no further ahead than that after a restart while a clock is ahead", () => {
    const meanwhile = [{ step: "report", check: "disk", status: "warning" }, { step: "restart" }] as const
    return Effect.scoped(onShiftedClock((clocks) => play({ before: [], ahead: "1 day", meanwhile }, clocks)))
  })
})

const NAMES = ["webhook", "alert_router"]
const POLICY = compilePolicy(
  Result.getOrThrow(
    readPolicy(
      {
        routes: [
          {
            match: ["check_id = disk"],
            after: "1m",
            remind: "15m",
            steps: [{ to: NAMES }, { after: "1h", to: NAMES }],
          },
        ],
      },
      NAMES,
    ),
  ),
  NAMES,
)

type Step =
  | { readonly step: "report"; readonly check: string; readonly status: "ok" | "warning" | "critical" }
  | { readonly step: "declare"; readonly check: string; readonly severity: string }
  | { readonly step: "answer"; readonly answer: "delivered" | "deferred" | "hanging" }
  | { readonly step: "heartbeat" | "restart" }
  | { readonly step: "wait"; readonly seconds: number }

const check = fc.constantFrom("disk", "load")
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    step: fc.constant("report" as const),
    check,
    status: fc.constantFrom("ok" as const, "warning" as const, "critical" as const),
  }),
  fc.record({
    step: fc.constant("declare" as const),
    check,
    severity: fc.constantFrom("warning", "critical"),
  }),
  fc.record({
    step: fc.constant("answer" as const),
    answer: fc.constantFrom("delivered" as const, "deferred" as const, "hanging" as const),
  }),
  fc.record({ step: fc.constantFrom("heartbeat" as const, "restart" as const) }),
  fc.record({ step: fc.constant("wait" as const), seconds: fc.constantFrom(1, 6, 70, 200, 1_000) }),
)
const steps = fc.array(step, { maxLength: 12 })
interface Scenario {
  readonly before: ReadonlyArray<Step>
  readonly ahead: Duration.Input
  readonly meanwhile: ReadonlyArray<Step>
}
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  before: steps,
  ahead: fc.constantFrom<Duration.Input>("10 seconds", "5 minutes", "1 day", "365 days"),
  meanwhile: steps,
})

const ANSWERS = { deferred, delivered, hanging }

/** Plays a scenario whose clock is ahead for a part, and looks at all rows once that is over. */
const play = Effect.fnUntraced(function* (
  { ahead, before, meanwhile }: Scenario,
  { clock, rightNow }: Clocks,
) {
  const timeline = yield* openTimeline({ notifiers: NAMES, process: { keepsHouse: true } })
  const { after, agent, front, isDownFor, service, webhook, alertRouter } = timeline
  yield* front.policy.replace(POLICY)
  const take = Effect.fnUntraced(function* (one: Step) {
    switch (one.step) {
      case "report":
        return yield* agent().reports({ ...one, observedAt: yield* rightNow })
      case "declare": {
        const checks = [{ check_id: one.check, every: "1m", severity: one.severity }]
        const request = Result.getOrThrow(decodeExpectationsRequest({ checks }))
        return yield* Effect.orDie(front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request }))
      }
      case "answer":
        yield* webhook.answers(ANSWERS[one.answer])
        return yield* alertRouter.answers(ANSWERS[one.answer])
      case "heartbeat":
        return yield* agent().heartbeats
      case "restart":
        return yield* isDownFor("2 seconds")
      case "wait":
        return yield* after(Duration.seconds(one.seconds))
    }
  })
  yield* Effect.forEach(before, take, { discard: true })
  clock.setAhead(ahead)
  yield* Effect.forEach(meanwhile, take, { discard: true })
  // No jump passes unnoticed that lasts longer than the time between two service heartbeats.
  yield* after("6 seconds")
  clock.setBack(ahead)
  yield* after("15 seconds")
  lawOf(service, yield* Instant.now)
})

const isWaiting: ReadonlySet<OutboxState> = new Set(["pending", "sending", "retry"])

const lawOf = ({ rows }: Pick<Service, "rows">, now: Instant.Instant): void => {
  const { agents, alerts, checks, expectations, incidents, outbox } = rows()
  const isExpected = (name: string) => expectations.has(name)
  const isOpen = (id: string) => incidents.get(id)?.state === "open"
  const ofTables = {
    agent: Array.from(agents.values()),
    check_state: Array.from(checks).flatMap(([name, row]) => (isExpected(name) ? [row] : [])),
    expectation: Array.from(expectations.values()),
    incident: Array.from(incidents.values()).filter(({ state }) => state === "open"),
    outbox: Array.from(outbox.values()).filter(
      ({ incident_id, state }) => isWaiting.has(state) || (state !== "discarded" && isOpen(incident_id)),
    ),
    alert: Array.from(alerts.values()),
  }
  for (const [name, ofTable] of Object.entries(ofTables))
    for (const row of ofTable)
      for (const [column, value] of Object.entries(row)) {
        const most = MEANINGS[`${name}.${column}`]
        if (typeof most !== "number" || typeof value !== "bigint") continue
        // The end of the attempt sets it.
        if (column === "updated_at" && "state" in row && row.state === "sending") continue
        assert.isAtMost(Number(value - now) / 1_000_000, most, `${name}.${column}`)
      }
}

import type { CheckRef } from "../model/CheckRecord.ts"
import type * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import type { Decision } from "../unitOfWork/Decision.ts"
import { load } from "../unitOfWork/load.ts"
import type { Leaving } from "../model/IncidentRecord.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import { dueTime, evaluationAfter } from "./dueTime.ts"
import {
  type ExpectationRecord,
  ExpectationTransitions,
  newExpectation,
  stateOf,
  type Terms,
} from "../model/ExpectationRecord.ts"
import { clampToNow } from "../model/clampToNow.ts"

/** A check leaves its incident of overdue checks. Its row, if loaded and still there, no longer refers to it. */
function* leaveOverdue(incidents: Incidents, expectation: ExpectationRecord, leaving: Leaving) {
  const { unit } = incidents
  const { agent_id, check_id, incident_id } = expectation
  if (incident_id === undefined) return
  yield* incidents.leave({ incident_id, agent_id, check_id }, leaving)
  const check = unit.checks.get(expectation)
  if (check !== undefined) unit.checks.put({ ...check, overdue_incident_id: undefined })
}

/** An expectation with its next evaluation, as a check that last reported then has it. */
export const inTime = (
  expectation: ExpectationRecord,
  reportedAt: Instant.Instant | undefined,
): ExpectationRecord => {
  const isAwaited = expectation.incident_id === undefined && expectation.origin !== "alert"
  const next_evaluation_at = isAwaited ? evaluationAfter(dueTime(expectation, reportedAt)) : undefined
  return { ...expectation, next_evaluation_at }
}

/** A check that may be overdue has reported: it is no longer overdue (docs/rules.md#expectations). */
export function* endOverdue(incidents: Incidents, ref: CheckRef): Decision<void> {
  const { unit } = incidents
  yield* load(unit, { rows: { expectation: [ref] } })
  const expectation = unit.expectations.get(ref)
  if (expectation === undefined || expectation.incident_id === undefined) return
  move(ExpectationTransitions, "overdue", "reported")
  const notify = expectation.terms.notifications_enabled
  const status = expectation.alone_due_at && unit.checks.get(ref)?.status
  const summary = status && `${ref.check_id} reported: ${status}`
  yield* leaveOverdue(incidents, expectation, { by: "event", notify, summary })
  unit.expectations.put(inTime({ ...expectation, incident_id: undefined, alone_due_at: undefined }, unit.now))
}

/** Ends an expectation with its check (docs/rules.md#deleting-an-agent). */
export function* removeExpectation(incidents: Incidents, expectation: ExpectationRecord): Decision<void> {
  const { unit } = incidents
  move(ExpectationTransitions, stateOf(expectation), "removed")
  yield* leaveOverdue(incidents, expectation, { by: "agent_gone" })
  unit.expectations.delete(expectation)
}

export interface Expected {
  readonly ref: CheckRef
  readonly origin: ExpectationRecord["origin"]
  readonly terms: Terms
}

/**
 * Expects a check under these terms, unless it is already. Other terms leave an overdue check in its
 * incident, with their severity; another `incident` counts from the next time it is overdue. Needs the
 * check and its expectation.
 */
export function* expectCheck(incidents: Incidents, { origin, ref, terms }: Expected): Decision<void> {
  const { unit } = incidents
  const before = unit.expectations.get(ref)
  if (before?.origin === origin && hasSameTerms(before.terms, terms)) {
    if (before.terms.incident !== terms.incident) unit.expectations.put({ ...before, terms })
    return
  }
  const incident_id = before?.incident_id
  // The repair of a clock that was set back passes over checks that need not report.
  const stored = unit.checks.get(ref)
  const check = stored && clampToNow(stored, ["received_at"], unit.now)
  if (check !== undefined && check !== stored) unit.checks.put(check)
  const trigger = origin === "policy" ? "matched" : "declared"
  move(ExpectationTransitions, stateOf(before), trigger)
  const expected = { origin, terms, expected_from: unit.now }
  const next = before === undefined ? newExpectation(ref, expected) : { ...before, ...expected }
  unit.expectations.put(inTime(next, check?.received_at))
  if (incident_id === undefined || before?.terms.severity === terms.severity) return
  const { agent_id, check_id } = ref
  const { notifications_enabled: notify, severity } = terms
  const member = { agent_id, check_id, incident_id }
  yield* load(unit, { incidents: [incident_id], rows: { incident_member: [member] } })
  const summary = unit.members.get(member)?.summary
  yield* incidents.change(incident_id, { member: { agent_id, check_id, severity, summary }, notify })
}

/** Expects a check no longer; it leaves the incident of overdue checks. Needs an overdue check's row. */
export function* withdrawExpectation(incidents: Incidents, expectation: ExpectationRecord): Decision<void> {
  const { unit } = incidents
  const notify = expectation.terms.notifications_enabled
  move(
    ExpectationTransitions,
    stateOf(expectation),
    expectation.origin === "policy" ? "unmatched" : "withdrawn",
  )
  yield* leaveOverdue(incidents, expectation, { by: "event", notify })
  unit.expectations.delete(expectation)
}

const TERMS = [
  "every_millis",
  "after_millis",
  "cron",
  "tz",
  "grace_millis",
  "severity",
  "notifications_enabled",
] as const satisfies ReadonlyArray<keyof Terms>

/** Whether a check is due by equal terms, whatever its incident will be. */
export const hasSameTerms = (a: Terms, b: Terms): boolean => TERMS.every((name) => a[name] === b[name])

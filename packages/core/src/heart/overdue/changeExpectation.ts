import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { headlineOf } from "@tocsin/contract/formats/headline"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { Leaving, Resolution } from "../model/IncidentRecord.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import { dueTime, evaluationAfter } from "./dueTime.ts"
import {
  type ExpectationRecord,
  ExpectationTransitions,
  newExpectation,
  stateOf,
  type Terms,
} from "../model/ExpectationRecord.ts"
import { clampToNow } from "../../kernel/model/clampToNow.ts"

/** A check leaves its incident of late checks. Its row, if loaded and still there, no longer refers to it. */
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

/** How an incident ends with a result that is ok: by that, or by the operator whose act it was. */
export const endingOf = (now: string | undefined, resolvedBy: string | undefined): Resolution =>
  resolvedBy === undefined
    ? { reason: "recovered", ...(now !== undefined && { now }) }
    : { reason: "resolved", by: resolvedBy }

/** A check that may be late has reported: it is no longer late (docs/rules.md#expectations). */
export function* endOverdue(incidents: Incidents, ref: CheckRef, resolvedBy?: string): Decision<void> {
  const { unit } = incidents
  yield* load(unit, { rows: { expectation: [ref] } })
  const expectation = unit.expectations.get(ref)
  if (expectation === undefined || expectation.incident_id === undefined) return
  move(ExpectationTransitions, "overdue", "reported")
  const notify = expectation.terms.notifications_enabled
  const check = unit.checks.get(ref)
  const isWell = check === undefined || check.status === "ok"
  const now = headlineOf(check?.summary)
  const resolution: Resolution = isWell
    ? endingOf(now, resolvedBy)
    : { reason: "reported", status: check.status, ...(now !== undefined && { now }) }
  yield* leaveOverdue(incidents, expectation, { by: "event", notify, resolution })
  unit.expectations.put(inTime({ ...expectation, incident_id: undefined, alone_due_at: undefined }, unit.now))
}

/** Ends an expectation with its check (docs/rules.md#deleting-an-agent). */
export function* removeExpectation(
  incidents: Incidents,
  expectation: ExpectationRecord,
  resolution: Resolution,
): Decision<void> {
  const { unit } = incidents
  move(ExpectationTransitions, stateOf(expectation), "removed")
  yield* leaveOverdue(incidents, expectation, { by: "agent_gone", resolution })
  unit.expectations.delete(expectation)
}

export interface Expected {
  readonly ref: CheckRef
  readonly origin: ExpectationRecord["origin"]
  readonly terms: Terms
}

/**
 * These terms, or the same with the severity that earlier versions gave every check that states none: an upgrade makes
 * nothing worse (docs/rules.md#late-checks).
 */
const keepingSeverity = (before: Terms | undefined, given: Terms): Terms => {
  if (before?.severity !== "unknown") return given
  if (before.is_severity_stated === true || given.is_severity_stated === true) return given
  const kept: Terms = { ...given, severity: before.severity }
  return hasSameTerms(before, kept) ? kept : given
}

/**
 * Expects a check under these terms, unless it is already. Other terms leave a late check in its
 * incident, with their severity; another `incident` counts from the next time it is late. Needs the
 * check and its expectation.
 */
export function* expectCheck(incidents: Incidents, { origin, ref, terms: given }: Expected): Decision<void> {
  const { unit } = incidents
  const before = unit.expectations.get(ref)
  const terms = keepingSeverity(before?.terms, given)
  if (before?.origin === origin && hasSameTerms(before.terms, terms)) {
    const { incident, is_severity_stated } = before.terms
    if (incident !== terms.incident || is_severity_stated !== terms.is_severity_stated)
      unit.expectations.put({ ...before, terms })
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

/** Expects a check no longer; it leaves the incident of late checks. Needs a late check's row. */
export function* withdrawExpectation(
  incidents: Incidents,
  expectation: ExpectationRecord,
  resolution: Resolution = { reason: "withdrawn" },
): Decision<void> {
  const { unit } = incidents
  const notify = expectation.terms.notifications_enabled
  move(
    ExpectationTransitions,
    stateOf(expectation),
    expectation.origin === "policy" ? "unmatched" : "withdrawn",
  )
  yield* leaveOverdue(incidents, expectation, { by: "event", notify, resolution })
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

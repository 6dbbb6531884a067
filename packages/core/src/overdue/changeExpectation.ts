import type { CheckRef } from "../model/CheckRecord.ts"
import type { Instant } from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import { clampToNow } from "../model/clampToNow.ts"
import { dueTime, evaluationAfter } from "./dueTime.ts"
import {
  type ExpectationRecord,
  ExpectationTransitions,
  hasTerms,
  stateOf,
  type Terms,
  unexpected,
  type WithTerms,
} from "../model/ExpectationRecord.ts"
import { leaveOverdue } from "./overdueIncident.ts"

/** The new expectation of a check. */
export interface Expected {
  readonly ref: CheckRef
  readonly origin: ExpectationRecord["origin"]
  readonly terms: Terms
  readonly now: Instant
}

/** The part that other terms leave as it is. */
const runsOf = ({ log, starts }: Pick<Terms, "log" | "starts"> = {}): Pick<Terms, "log" | "starts"> => ({
  ...(log !== undefined && { log }),
  ...(starts !== undefined && { starts }),
})

/**
 * Expects a check under these terms, unless it is already. Other terms leave an overdue check in its
 * incident, with their severity. Needs the check and its expectation.
 */
export function* expectCheck(
  unit: UnitOfWork,
  incidents: Incidents,
  { now, origin, ref, terms }: Expected,
): Decision<void> {
  const before = unit.expectations.get(ref)
  if (hasTerms(before) && before.origin === origin && isEqual(before.terms, terms)) return
  const incident_id = before?.incident_id
  // The repair of a clock that was set back passes over checks that need not report.
  const reported = unit.checks.get(ref)
  const check = reported && clampToNow(reported, ["received_at"], now)
  if (check !== undefined && check !== reported) unit.checks.put(check)
  const runs = runsOf(before?.terms)
  const due = dueTime({ expected_from: now, terms: { ...terms, ...runs } }, check?.received_at)
  const trigger = origin === "agent" ? "declared" : "matched"
  move(ExpectationTransitions, before === undefined ? "absent" : stateOf(before), trigger)
  unit.expectations.put({
    ...(before ?? unexpected(ref, now)),
    origin,
    terms: { ...terms, ...runs },
    expected_from: now,
    next_evaluation_at: incident_id === undefined ? evaluationAfter(due) : undefined,
  })
  if (incident_id === undefined || before?.terms?.severity === terms.severity) return
  const { agent_id, check_id } = ref
  const { notifications_enabled: notify, severity } = terms
  const member = { agent_id, check_id, incident_id }
  yield* load(unit, { incidents: [incident_id], rows: { incident_member: [member] } })
  const summary = unit.members.get(member)?.summary
  yield* incidents.change(incident_id, { member: { agent_id, check_id, severity, summary }, notify })
}

/**
 * Expects a check no longer; it leaves the incident of overdue checks and keeps its labels. Needs an
 * overdue check's row.
 */
export function* withdrawExpectation(
  unit: UnitOfWork,
  incidents: Incidents,
  expectation: WithTerms,
): Decision<void> {
  const notify = expectation.terms.notifications_enabled
  move(
    ExpectationTransitions,
    stateOf(expectation),
    expectation.origin === "agent" ? "withdrawn" : "unmatched",
  )
  yield* leaveOverdue(unit, incidents, expectation, { by: "event", notify })
  forgetTerms(unit, expectation)
}

/** Forgets how often a check must report. Its row stays for its labels. */
export const forgetTerms = (unit: UnitOfWork, expectation: ExpectationRecord): void => {
  const { expected_from, labelled_at, labels, origin } = expectation
  if (labels === undefined) unit.expectations.delete(expectation)
  else unit.expectations.put({ ...unexpected(expectation, expected_from), origin, labels, labelled_at })
}

const TERMS = [
  "every_millis",
  "after_millis",
  "cron",
  "tz",
  "grace_millis",
  "severity",
  "notifications_enabled",
  "source",
  "lease_millis",
] as const satisfies ReadonlyArray<keyof Terms>

/** Whether terms are the same. */
export const isEqual = (a: Terms, b: Terms): boolean => TERMS.every((name) => a[name] === b[name])

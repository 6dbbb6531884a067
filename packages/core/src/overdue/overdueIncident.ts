import type { CheckRecord, CheckRef } from "../model/CheckRecord.ts"
import { type AgentId, IncidentKey } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentRef, Leaving } from "../model/IncidentRecord.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import type { MemberRef } from "../model/MemberRecord.ts"
import { dueTime, evaluationAfter } from "./dueTime.ts"
import {
  type ExpectationRecord,
  ExpectationTransitions,
  hasTerms,
  stateOf,
  type WithTerms,
} from "../model/ExpectationRecord.ts"

/** The key of the incident of an agent's overdue checks; no key of an event meets it. */
export const overdueRef = (agentId: AgentId): IncidentRef => ({
  kind: "automatic",
  incident_key: IncidentKey.make(`${agentId}/@overdue`),
})

/** The membership of an overdue check, and `undefined` of any other. */
const overdueMember = ({ agent_id, check_id, incident_id }: ExpectationRecord): MemberRef | undefined =>
  incident_id === undefined ? undefined : { incident_id, agent_id, check_id }

const summaryOf = (
  { check_id, terms }: WithTerms,
  check: CheckRecord | undefined,
  due: Instant.Instant,
): string => {
  if (check === undefined) return `${check_id} never reported; it was due at ${Instant.format(due)}`
  const at = Instant.format(check.received_at)
  if (terms.source === undefined) return `${check_id} has not reported since ${at}`
  return `${check_id} is as last heard at ${at}: ${terms.source || "its source"} is silent`
}

/** A check is found overdue: it joins the incident of its agent's overdue checks. */
export function* becomeOverdue(
  unit: UnitOfWork,
  incidents: Incidents,
  expectation: WithTerms,
  due: Instant.Instant,
): Decision<void> {
  const { agent_id, check_id, terms } = expectation
  const check = unit.checks.get(expectation)
  const { severity, notifications_enabled: notify } = terms
  const member = { agent_id, check_id, severity, summary: summaryOf(expectation, check, due) }
  move(ExpectationTransitions, "expected", "found_overdue")
  const incident_id = yield* incidents.join(overdueRef(agent_id), { member, notify })
  unit.expectations.put({ ...expectation, next_evaluation_at: undefined, incident_id })
  if (check !== undefined) unit.checks.put({ ...check, overdue_incident_id: incident_id })
}

/**
 * A check leaves the incident of its agent's overdue checks. Its row, if loaded and still there, no
 * longer refers to it.
 */
export function* leaveOverdue(
  unit: UnitOfWork,
  incidents: Incidents,
  expectation: ExpectationRecord,
  leaving: Leaving,
): Decision<void> {
  const member = overdueMember(expectation)
  if (member === undefined) return
  yield* incidents.leave(member, leaving)
  const check = unit.checks.get(expectation)
  if (check !== undefined) unit.checks.put({ ...check, overdue_incident_id: undefined })
}

/** A check that may be overdue has reported: it is no longer overdue (docs/rules.md#freshness). */
export function* reported(
  unit: UnitOfWork,
  incidents: Incidents,
  ref: CheckRef,
  now: Instant.Instant,
): Decision<void> {
  yield* load(unit, { rows: { expectation: [ref] } })
  const expectation = unit.expectations.get(ref)
  if (!hasTerms(expectation) || expectation.incident_id === undefined) return
  move(ExpectationTransitions, "overdue", "reported")
  const notify = expectation.terms.notifications_enabled
  yield* leaveOverdue(unit, incidents, expectation, { by: "event", notify })
  unit.expectations.put({
    ...expectation,
    incident_id: undefined,
    next_evaluation_at: evaluationAfter(dueTime(expectation, now)),
  })
}

/** Ends an expectation with its check (docs/rules.md#deleting-an-agent). */
export function* removeExpectation(
  unit: UnitOfWork,
  incidents: Incidents,
  expectation: ExpectationRecord,
): Decision<void> {
  if (hasTerms(expectation)) move(ExpectationTransitions, stateOf(expectation), "removed")
  yield* leaveOverdue(unit, incidents, expectation, { by: "agent_gone" })
  unit.expectations.delete(expectation)
}

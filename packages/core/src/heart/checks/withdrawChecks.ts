import type { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import type { RetentionOptions } from "../../kernel/engine/commits/Retention.ts"
import { type CheckRef, checksOf } from "../../kernel/model/CheckRef.ts"
import { SYSTEM } from "../../kernel/ports/CurrentOperator.ts"
import { commandOf, type Decision, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { uncount } from "../model/AgentRecord.ts"
import { ListedCheckTransitions } from "../model/ListedCheckRecord.ts"
import { withdrawExpectation } from "../overdue/changeExpectation.ts"
import { type EvaluateInput, evaluationOfDue } from "../overdue/evaluateExpectations.ts"
import { hasReported } from "../overdue/listedChecks.ts"
import { removeFound } from "./checkActions.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"

/** A check that its agent no longer runs leaves its incidents, and nothing expects it. Needs its rows. */
function* withdraw(incidents: Incidents, ref: CheckRef): Decision<void> {
  const { unit } = incidents
  const resolution = { reason: "withdrawn", of: "check" } as const
  const expectation = unit.expectations.get(ref)
  if (expectation !== undefined) yield* withdrawExpectation(incidents, expectation, resolution)
  const check = unit.checks.get(ref)
  if (check === undefined) return
  const { agent_id, check_id, incident_id, status } = check
  if (incident_id !== undefined) {
    const member = { incident_id, agent_id, check_id }
    yield* load(unit, { incidents: [incident_id], rows: { incident_member: [member] } })
    const notify = unit.members.get(member)?.is_loud === true
    yield* incidents.leave(member, { by: "event", notify, resolution })
  }
  unit.checks.put({
    ...check,
    incident_id: undefined,
    overdue_incident_id: undefined,
    withdrawn_at: unit.now,
  })
  const agent = unit.agents.get(agent_id)
  if (agent !== undefined) unit.putAgent(uncount(agent, status))
}

/** Withdraws checks that lists have lacked for long enough, and deletes those that were withdrawn long ago. */
export const evaluateListed = commandOf(function* (
  unit,
  { agentId: agent_id, checkIds: check_ids, incidents: options }: EvaluateInput,
  keptFor: Duration.Duration | undefined,
) {
  const { now } = unit
  yield* load(unit, { agents: [agent_id], checks: { agent_id, check_ids } })
  const agent = unit.agents.get(agent_id)
  if (agent === undefined) return
  const refs = checksOf(agent, check_ids)
  yield* load(unit, { rows: { expectation: refs, listed_check: refs } })
  const table = unit.of("listed_check")
  const incidents = new Incidents(unit, options)
  for (const ref of refs) {
    const listed = table.get(ref)
    if (listed?.next_evaluation_at === undefined || listed.next_evaluation_at > now) continue
    if (listed.state === "withdrawn") {
      move(ListedCheckTransitions, "withdrawn", "removed")
      yield* removeFound(incidents, unit.agents.get(agent_id) ?? agent, ref, SYSTEM)
    } else if (hasReported(unit.checks.get(ref), agent)) {
      const state = move(ListedCheckTransitions, listed.state, "found_reporting")
      table.put({ ...listed, state, next_evaluation_at: undefined })
      const expectation = unit.expectations.get(ref)
      if (expectation?.origin === "agent") yield* withdrawExpectation(incidents, expectation)
    } else {
      const state = move(ListedCheckTransitions, listed.state, "found_silent")
      const next_evaluation_at = keptFor && Instant.plus(now, keptFor)
      yield* withdraw(incidents, ref)
      table.put({ ...listed, state, next_evaluation_at })
    }
  }
})

/** Looks for checks to withdraw every 5 s. */
export const withdrawnChore = (
  services: ChoreServices,
  incidents: IncidentOptions,
  { history }: RetentionOptions,
): Chore =>
  evaluationOfDue(services, { name: "withdrawing checks", table: "listed_check", incidents }, (input) =>
    evaluateListed(input, history),
  )

/** A check becomes that of a place: it leaves its incident, and nothing expects it (docs/rules.md#places). */
export function* leaveAlone(
  { incidents, unit }: { readonly incidents: Incidents; readonly unit: UnitOfWork },
  check: CheckRecord | undefined,
): Decision<undefined> {
  if (check === undefined || check.is_of_place) return undefined
  const resolution = { reason: "withdrawn", of: "check" } as const
  const expectation = yield* loadRow(unit, "expectation", check)
  if (expectation !== undefined) yield* withdrawExpectation(incidents, expectation, resolution)
  const { agent_id, check_id, incident_id } = check
  if (incident_id !== undefined)
    yield* incidents.leave({ incident_id, agent_id, check_id }, { by: "event", notify: true, resolution })
  return undefined
}

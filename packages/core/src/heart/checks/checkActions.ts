import { type AgentRecord, uncount } from "../model/AgentRecord.ts"
import { auditedCheck } from "../model/AuditRecord.ts"
import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import { clampToNow } from "../../kernel/model/clampToNow.ts"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { removeExpectation } from "../overdue/changeExpectation.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import type { CheckName, CheckRef } from "../../kernel/model/CheckRef.ts"

/** How many checks an action changed, or why there is none. */
export type CheckActionOutcome = number | "no_such_agent" | "no_such_check"

/**
 * Releases a check frozen by an agent's clock in the future: results count again from the arrival
 * of the last applied one, and heartbeats of its agent from that of the last one. Count 0 if the clock
 * was not ahead (docs/rules.md#clocks-in-the-future).
 */
export const resetClock = commandOf(function* (unit, ref: CheckName, by: Signature) {
  const { agent, check } = yield* findCheck(unit, ref)
  if (agent === undefined) return "no_such_agent"
  if (check === undefined) return "no_such_check"
  // The service's clock may have been ahead together with the agent's.
  const received = clampToNow(check, ["received_at"], unit.now)
  const seen = clampToNow(agent, ["last_seen_at"], unit.now)
  const isCheckAhead = check.last_observed_at > received.received_at
  const isAgentAhead = agent.observed_at > seen.last_seen_at
  if (!isCheckAhead && !isAgentAhead) return 0
  if (isCheckAhead) unit.checks.put({ ...received, last_observed_at: received.received_at })
  if (isAgentAhead) unit.putAgent({ ...seen, observed_at: seen.last_seen_at })
  recordAudit(unit, by, "check.clock_reset", [auditedCheck(ref)], {})
  return 1
})

/**
 * Deletes a check that its agent no longer runs, with its history, and no longer expects it. It
 * leaves its incidents like a check of a deleted agent (docs/rules.md#deleting-an-agent).
 */
export const removeCheck = commandOf(function* (
  unit,
  ref: CheckName,
  options: IncidentOptions,
  by: Signature,
) {
  const { agent } = yield* findCheck(unit, ref)
  if (agent === undefined) return "no_such_agent"
  const expected = { ...ref, registration_id: agent.registration_id }
  const isFound = yield* removeFound(new Incidents(unit, options), agent, expected, by.actor)
  if (!isFound) return "no_such_check"
  recordAudit(unit, by, "check.deleted", [auditedCheck(ref)], {})
  return 1
})

/** Deletes a check with all rows that it has; whether it had any. Needs the check. */
export function* removeFound(
  incidents: Incidents,
  agent: AgentRecord,
  ref: CheckRef,
  by: string,
): Decision<boolean> {
  const resolution = { reason: "deleted", by } as const
  const { unit } = incidents
  yield* load(unit, {
    rows: {
      check_label: [ref],
      expectation: [ref],
      listed_check: [ref],
      job_run: [ref],
      mailed_check: [ref],
      reported_alert: [ref],
    },
  })
  const check = unit.checks.get(ref)
  const expectation = unit.expectations.get(ref)
  const further = [
    unit.of("check_label"),
    unit.of("job_run"),
    unit.of("mailed_check"),
    unit.of("reported_alert"),
  ]
  const isFound = [unit.checks, unit.expectations, ...further].some((table) => table.get(ref) !== undefined)
  for (const table of further) table.delete(ref)
  if (expectation !== undefined) yield* removeExpectation(incidents, expectation, resolution)
  if (check === undefined) return isFound
  const { agent_id, check_id, incident_id } = check
  if (incident_id !== undefined)
    yield* incidents.leave({ incident_id, agent_id, check_id }, { by: "agent_gone", resolution })
  unit.removeCheck(check)
  if (check.withdrawn_at === undefined) unit.putAgent(uncount(agent, check.status))
  return true
}

/** A check with its agent; each is absent if there is none. */
export function* findCheck(unit: UnitOfWork, { agent_id, check_id }: CheckName) {
  yield* load(unit, { agents: [agent_id], checks: { agent_id, check_ids: [check_id] } })
  const agent = unit.agents.get(agent_id)
  const { registration_id } = agent ?? {}
  const check =
    registration_id === undefined || check_id === HEARTBEAT
      ? undefined
      : unit.checks.get({ agent_id, registration_id, check_id })
  return { agent, check }
}

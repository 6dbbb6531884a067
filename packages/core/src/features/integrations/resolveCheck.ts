import { Context, Effect, Layer } from "effect"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { findCheck } from "../../heart/checks/checkActions.ts"
import { commandOf, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { auditedCheck } from "../../heart/model/AuditRecord.ts"
import type { CheckName } from "../../kernel/model/CheckRef.ts"
import { alertStateOf, ReportedAlertTransitions } from "./ReportedAlertRecord.ts"
import { endCheck } from "./endCheck.ts"
import { countOf } from "../../heart/usecases/Checks.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"
import { StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { endRuns } from "./followRuns.ts"

/**
 * An operator's ok result for a check of an integration, whose sender may never report again. Count 0 if it is ok and
 * in time. A watch is probed again, and an agent reports again: neither is resolved (docs/rules.md#resolving-a-check).
 */
export const resolveCheck = commandOf(function* (
  unit,
  name: CheckName,
  incidents: IncidentOptions,
  by: Signature,
) {
  const { agent, check } = yield* findCheck(unit, name)
  if (agent === undefined) return "no_such_agent"
  const { agent_id, registration_id } = agent
  const ref = { agent_id, registration_id, check_id: name.check_id }
  yield* load(unit, { rows: { expectation: [ref], job_run: [ref], reported_alert: [ref] } })
  // One that began and never ended has no result yet.
  if (check === undefined && unit.of("job_run").get(ref) === undefined) return "no_such_check"
  const integration = yield* loadRow(unit, "integration", name.agent_id)
  if (integration === undefined || integration.kind === "watch") return "not_of_sender"
  if (check?.status === "ok" && check.overdue_incident_id === undefined) return 0
  const alert = unit.of("reported_alert").get(ref)
  if (alert !== undefined) move(ReportedAlertTransitions, alertStateOf(check), "resolved")
  const output = `resolved by ${by.actor}`
  yield* endCheck(unit, { incidents, agent, alert, check: ref, integration, output, resolvedBy: by.actor })
  if (unit.of("job_run").get(ref) !== undefined) endRuns(unit, ref)
  recordAudit(unit, by, "check.resolved", [auditedCheck(name)], {})
  return 1
})

const NOT_OF_SENDER = new StateConflict({
  message:
    "this check belongs to an agent or a watch, whose next result decides: acknowledge its incident, silence it, or delete a check that is no longer run",
})

const resolveOperations = Effect.map(operationPorts, ({ options, signed }) => ({
  /** Makes a check of an integration ok by the operator. */
  resolveCheck: Effect.fnUntraced(function* (check: CheckName) {
    const outcome = yield* signed((by) => resolveCheck(check, options, by))
    return yield* outcome === "not_of_sender" ? NOT_OF_SENDER : countOf(outcome)
  }),
}))

/** Operators' actions on checks of integrations. */
export class ResolvedChecks extends Context.Service<ResolvedChecks>()(
  "@tocsin/core/features/integrations/resolveCheck",
  { make: resolveOperations },
) {
  static readonly layer = Layer.effect(ResolvedChecks, ResolvedChecks.make)
}

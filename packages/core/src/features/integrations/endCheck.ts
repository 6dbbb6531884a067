import { applyResults } from "../../heart/checks/applyBatch.ts"
import type { Decision } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { Incidents } from "../../heart/incidents/Incidents.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import type { IntegrationRecord } from "./IntegrationRecord.ts"
import type { ReportedAlertRecord } from "./ReportedAlertRecord.ts"
import { resultOf } from "./alerts.ts"
import { followAlert } from "./followAlert.ts"
import { eventOf, NOTHING_EXPECTED } from "./Report.ts"

interface Ended {
  readonly agent: AgentRecord
  readonly check: CheckRef
  /** Absent unless it is an alert. */
  readonly alert: Pick<ReportedAlertRecord, "source"> | undefined
  readonly output: string
  readonly integration: Pick<IntegrationRecord, "options">
  readonly incidents: IncidentOptions
  /** The operator whose act it is. */
  readonly resolvedBy?: string
}

/** Makes a check of an integration ok, as by a result; an alert is expected no longer. Needs its expectation. */
export function* endCheck(unit: UnitOfWork, given: Ended): Decision<void> {
  const { agent, alert, check, incidents, integration, output, resolvedBy } = given
  const { agent_id, check_id } = check
  const result = resultOf(check_id, "ok", output, NOTHING_EXPECTED)
  const request = { agent_id, events: [eventOf(result, unit.now)] }
  yield* applyResults(unit, agent, { incidents, request, ...(resolvedBy !== undefined && { resolvedBy }) })
  if (alert !== undefined) {
    const { options } = integration
    const ended = { ref: check, source: alert.source, lease_millis: undefined, options }
    yield* followAlert(new Incidents(unit, incidents), ended)
  }
  // The next report declares its terms again.
  const after = unit.checks.get(check)
  if (after !== undefined) unit.checks.put({ ...after, declaration: undefined })
}

import { applyResults } from "../checks/applyBatch.ts"
import type { Decision } from "../unitOfWork/Decision.ts"
import type { UnitOfWork } from "../unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckRef } from "../model/CheckRecord.ts"
import type { IntegrationRecord } from "../model/IntegrationRecord.ts"
import type { ReportedAlertRecord } from "../model/ReportedAlertRecord.ts"
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
}

/** Makes a check of an integration ok, as by a result; an alert is expected no longer. Needs its expectation. */
export function* endCheck(unit: UnitOfWork, given: Ended): Decision<void> {
  const { agent, alert, check, incidents, integration, output } = given
  const { agent_id, check_id } = check
  const result = resultOf(check_id, "ok", output, NOTHING_EXPECTED)
  const request = { agent_id, events: [eventOf(result, unit.now)] }
  yield* applyResults(unit, agent, { incidents, request })
  if (alert !== undefined) {
    const { options } = integration
    const ended = { ref: check, source: alert.source, lease_millis: undefined, options }
    yield* followAlert(new Incidents(unit, incidents), ended)
  }
  // The next report declares its terms again.
  const after = unit.checks.get(check)
  if (after !== undefined) unit.checks.put({ ...after, declaration: undefined })
}

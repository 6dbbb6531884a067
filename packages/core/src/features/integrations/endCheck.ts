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
import { type AlertAtSource, eventOf, NOTHING_EXPECTED } from "./Report.ts"
import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { expectCheck, withdrawExpectation } from "../../heart/overdue/changeExpectation.ts"
import { evaluationAfter } from "../../heart/overdue/dueTime.ts"
import { leaseTerms } from "./expected.ts"
import { lookAfter } from "./sources.ts"

interface Reported extends AlertAtSource {
  readonly ref: CheckRef
  readonly options: IntegrationOptions
}

/**
 * Makes the row of an alert and its expectation follow its last report. Without a lease, none is expected, and the
 * alert is looked at once it may be forgotten. Needs the check and its expectation.
 */
export function* followAlert(
  incidents: Incidents,
  { address, lease_millis, options, ref, source }: Reported,
): Decision<void> {
  const { unit } = incidents
  const { agent_id, check_id, registration_id } = ref
  let next_evaluation_at = Instant.plus(unit.now, lookAfter(options))
  if (lease_millis === undefined) {
    const expectation = unit.expectations.get(ref)
    if (expectation?.origin === "alert") yield* withdrawExpectation(incidents, expectation)
  } else {
    const terms = leaseTerms(lease_millis, incidents.options.staleAfter)
    yield* expectCheck(incidents, { ref, origin: "alert", terms })
    next_evaluation_at = evaluationAfter(Instant.plus(unit.now, Duration.millis(terms.after_millis)))
  }
  unit
    .of("reported_alert")
    .put({ agent_id, check_id, registration_id, source, lease_millis, next_evaluation_at, address })
}

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

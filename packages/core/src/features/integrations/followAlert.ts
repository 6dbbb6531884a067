import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import type { Decision } from "../../kernel/unitOfWork/Decision.ts"
import type { Incidents } from "../../heart/incidents/Incidents.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import { expectCheck, withdrawExpectation } from "../../heart/overdue/changeExpectation.ts"
import { evaluationAfter } from "../../heart/overdue/dueTime.ts"
import { leaseTerms } from "./expected.ts"
import type { AlertAtSource } from "./Report.ts"
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

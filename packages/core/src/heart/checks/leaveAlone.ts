import { type Decision, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"
import { withdrawExpectation } from "../overdue/changeExpectation.ts"

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

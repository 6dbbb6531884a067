import type { CheckResultEvent } from "../contract/EventBatchRequest.ts"
import type { IncidentId } from "../contract/Identifiers.ts"
import type { IncidentRef } from "../incidents/IncidentRecord.ts"
import { incidentRefOf } from "../incidents/incidentRefOf.ts"
import type { MemberRef } from "../incidents/MemberRecord.ts"
import { firstLine } from "../notifications/firstLine.ts"
import type { Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { BatchContext } from "./applyEvent.ts"
import type { CheckRecord } from "./CheckRecord.ts"

/**
 * Asks at once for the rows that the events of a batch will most likely need, so that a storage over a network makes one
 * trip for all of them. A guess that is wrong costs a trip, never a wrong decision: {@link applyEvent} asks for itself.
 */
export function* foresee({ workspace, registration_id, input }: BatchContext): Decision<void> {
  const { agent_id, events } = input.request
  const event_ids: Array<CheckResultEvent["event_id"]> = []
  const incidents: Array<IncidentId> = []
  const members: Array<MemberRef> = []
  const openIncidents: Array<IncidentRef> = []
  for (const event of events) {
    const check = workspace.checks.get({ agent_id, registration_id, check_id: event.check_id })
    if (check !== undefined && event.observed_at < check.last_observed_at) continue
    const isStatusChange = check?.status !== event.status
    const isChange = isStatusChange || check.exit_code !== event.exit_code
    if (isChange) event_ids.push(event.event_id)
    if (check?.incident_id !== undefined && (isStatusChange || hasNewFirstLine(check, event))) {
      incidents.push(check.incident_id)
      members.push({ incident_id: check.incident_id, agent_id, check_id: event.check_id })
    }
    if (isStatusChange && event.status !== "ok") {
      openIncidents.push(incidentRefOf({ ...event, agent_id }, input.sha256))
    }
  }
  yield* ensure(workspace, { history: { agent_id, event_ids }, incidents, members, openIncidents })
}

const hasNewFirstLine = (check: CheckRecord, event: CheckResultEvent): boolean =>
  firstLine(event.output) !== firstLine(check.summary)

import type { CheckResultEvent } from "../contract/EventBatchRequest.ts"
import type { IncidentRef } from "../incidents/IncidentRecord.ts"
import { incidentRefOf } from "../incidents/incidentRefOf.ts"
import type { MemberRef } from "../incidents/MemberRecord.ts"
import { heartbeatMember } from "../liveness/heartbeatIncident.ts"
import type { Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { BatchContext } from "./applyEvent.ts"
import { hasNewFirstLine } from "./hasNewFirstLine.ts"

/**
 * Asks at once for the rows that the events of a batch will most likely need, so that a storage over a network makes one
 * trip for all of them. A guess that is wrong costs a trip, never a wrong decision: {@link applyEvent} asks for itself.
 */
export function* prefetch({ workspace, agent, input }: BatchContext): Decision<void> {
  const { agent_id, events } = input.request
  const { registration_id } = agent
  const event_ids: Array<CheckResultEvent["event_id"]> = []
  const members: Array<MemberRef> = []
  const openIncidents: Array<IncidentRef> = []
  for (const event of events) {
    const check = workspace.checks.get({ agent_id, registration_id, check_id: event.check_id })
    if (check !== undefined && event.observed_at < check.last_observed_at) continue
    const isStatusChange = check?.status !== event.status
    const isChange = isStatusChange || check.exit_code !== event.exit_code
    if (isChange) event_ids.push(event.event_id)
    if (check?.incident_id !== undefined && (isStatusChange || hasNewFirstLine(check, event))) {
      members.push({ incident_id: check.incident_id, agent_id, check_id: event.check_id })
    }
    if (isStatusChange && event.status !== "ok") {
      openIncidents.push(incidentRefOf(agent_id, event, input.sha256))
    }
  }
  const heartbeat = heartbeatMember(agent)
  if (heartbeat !== undefined) members.push(heartbeat)
  if (event_ids.length === 0 && members.length === 0) return
  const incidents = members.map((member) => member.incident_id)
  yield* ensure(workspace, { history: { agent_id, event_ids }, incidents, members, openIncidents })
}

import type { AgentId, CheckId } from "@tocsin/core/contract/Identifiers"
import type { DeliveryAttempt } from "@tocsin/core/notifications/DeliveryAttempt"
import { checkIdOf } from "../text/checkIdOf.ts"
import { incidentText, type NotifiedIncident } from "../text/incidentText.ts"
import type { IncidentMessage } from "./WebhookMessage.ts"

/** Beyond what any text of ours comes to. */
const UNLIMITED = { limit: Number.MAX_SAFE_INTEGER, escape: (text: string) => text }

/** The webhook's body of a notification: the same for every attempt, as far as the incident is. */
export const incidentMessage = (notification: DeliveryAttempt): IncidentMessage => ({
  type: `incident.${notification.event_type}`,
  version: 1,
  timestamp: notification.created_at,
  data: {
    id: notification.id,
    severity: notification.severity,
    ...(notification.summary !== undefined && { summary: notification.summary }),
    text: incidentText(notification, UNLIMITED),
    incident: incidentOf(notification.incident),
  },
})

const incidentOf = (incident: NotifiedIncident): IncidentMessage["data"]["incident"] => ({
  id: incident.id,
  incident_key: incident.incident_key,
  ...placeOf(incident.agent_id, incident.check_id),
  opened_by: { agent_id: incident.opener_agent_id, ...placeOf(undefined, incident.opener_check_id) },
  opened_at: incident.opened_at,
  ...(incident.resolved_at !== undefined && { resolved_at: incident.resolved_at }),
  members: incident.members,
})

const placeOf = (agent_id: AgentId | undefined, checkId: CheckId | undefined) => {
  const check_id = checkIdOf(checkId)
  return { ...(agent_id !== undefined && { agent_id }), ...(check_id !== undefined && { check_id }) }
}

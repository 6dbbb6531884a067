import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import type { DeliveryAttempt } from "./DeliveryAttempt.ts"

/** What notifications and alerts say of an incident. */
export const incidentFacts = (incident: IncidentRecord): DeliveryAttempt["incident"] => ({
  id: incident.id,
  incident_key: incident.incident_key,
  agent_id: incident.agent_id,
  check_id: incident.check_id,
  opener_agent_id: incident.opener_agent_id,
  opener_check_id: incident.opener_check_id,
  opened_at: incident.opened_at,
  resolved_at: incident.resolved_at,
  summary: incident.summary,
  members: incident.members_warning + incident.members_unknown + incident.members_critical,
})

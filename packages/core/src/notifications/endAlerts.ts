import type { Instant } from "../contract/Instant.ts"
import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import type { Workspace } from "../workspace/Workspace.ts"

/**
 * Ends the label sets at the alert router that no longer are the incident's: all when it is resolved, those of another
 * severity while it is open. They are sent as ended at once (decisions §9).
 */
export const endAlerts = (workspace: Workspace, incident: IncidentRecord, now: Instant): void => {
  for (const alert of workspace.alerts.group(incident.id)) {
    const isCurrent = incident.state === "open" && alert.severity === incident.severity
    if (alert.ended_at === undefined && !isCurrent) workspace.alerts.put({ ...alert, ended_at: now, next_at: now })
  }
}

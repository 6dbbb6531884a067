import type { Instant } from "../contract/Instant.ts"
import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import type { AlertRecord } from "./AlertRecord.ts"

/**
 * Ends the label sets at the alert router that no longer are the incident's: all when it is resolved, that of another
 * severity while it is open, in whose place the present one is sent. All of it at once (docs/rules.md#alertmanager). Nothing happens
 * where the router was told nothing.
 */
export const endAlerts = (workspace: Workspace, incident: IncidentRecord, now: Instant): void => {
  const told = workspace.alerts.group(incident.id)
  if (told.length === 0) return
  const firing = told.filter((alert) => alert.ended_at === undefined)
  const isCurrent = (alert: AlertRecord) => incident.state === "open" && alert.severity === incident.severity
  if (firing.every(isCurrent)) return
  for (const alert of firing)
    if (!isCurrent(alert)) workspace.alerts.put({ ...alert, ended_at: now, next_at: now })
  if (incident.state === "open" && !firing.some(isCurrent)) startAlert(workspace, incident, now)
}

/**
 * Has the label set of an incident's severity sent from `next_at` on, until it is ended. A claim that holds it stays: what
 * is on its way to the router arrives first, and the end of the claim sees that it is out of date.
 */
export const startAlert = (
  workspace: Workspace,
  { id, severity }: Pick<IncidentRecord, "id" | "severity">,
  next_at: Instant,
): void => {
  const known = workspace.alerts.group(id).find((alert) => alert.severity === severity)
  workspace.alerts.put({
    incident_id: id,
    severity,
    next_at,
    ended_at: undefined,
    leased_until: known?.leased_until,
  })
}

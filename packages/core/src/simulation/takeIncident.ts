import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import type { MemoryTables } from "../memory/MemoryTables.ts"
import type { EndedIncident } from "./SimulationListener.ts"

/**
 * Moves an incident out of the tables with its members, notifications and changes, to keep them
 * small.
 */
export const takeIncident = (tables: MemoryTables, incident: IncidentRecord): EndedIncident => {
  const { id } = incident
  const changes = tables.incidentChanges.get(id) ?? []
  for (const item of tables.outboxOfIncidents.get(id) ?? []) tables.outbox.delete(item)
  tables.outboxOfIncidents.delete(id)
  tables.incidentChanges.delete(id)
  tables.incidentActs.delete(id)
  tables.members.delete(id)
  tables.alerts.delete(id)
  tables.incidents.delete(id)
  return { incident, changes }
}

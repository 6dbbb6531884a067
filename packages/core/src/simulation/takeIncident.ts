import type { IncidentChangeRecord } from "../incidents/IncidentChangeRecord.ts"
import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import type { MemoryTables } from "../tables/MemoryTables.ts"

/** An incident as it was in the end, and what happened to it. */
export interface EndedIncident {
  readonly incident: IncidentRecord
  readonly changes: ReadonlyArray<IncidentChangeRecord>
}

/** Takes an incident out of the tables with its members, notifications and story, so that they stay small. */
export const takeIncident = (tables: MemoryTables, incident: IncidentRecord): EndedIncident => {
  const { id } = incident
  const changes = tables.incidentChanges.get(id) ?? []
  for (const item of tables.outboxOfIncidents.get(id) ?? []) tables.outbox.delete(item)
  tables.outboxOfIncidents.delete(id)
  tables.incidentChanges.delete(id)
  tables.members.delete(id)
  tables.alerts.delete(id)
  tables.incidents.delete(id)
  return { incident, changes }
}

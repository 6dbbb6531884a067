import type { RetentionBounds } from "@tocsin/core/ports/Storage"
import type { MemoryTables } from "@tocsin/core/tables/MemoryTables"
import { forget } from "@tocsin/core/tables/persistChanges"

const ENDED = new Set(["sent", "failed", "discarded"])

/** Removes at most `limit` rows that have outlived their retention. Returns how many. */
export const expireRows = (tables: MemoryTables, before: RetentionBounds, limit: number): number => {
  let left = limit
  left -= expireHistory(tables, before, left)
  left -= expireIncidents(tables, before, left)
  left -= expireOutbox(tables, before, left)
  return limit - left
}

const expireHistory = (tables: MemoryTables, { history: bound }: RetentionBounds, limit: number): number => {
  if (bound === undefined) return 0
  const newest = new Map<string, number>()
  for (const row of tables.history) newest.set(`${row.registration_id}/${row.check_id}`, row.seq)
  const doomed = tables.history
    .filter(
      (row) => row.received_at < bound && newest.get(`${row.registration_id}/${row.check_id}`) !== row.seq,
    )
    .slice(0, limit)
  const seqs = new Set(doomed.map((row) => row.seq))
  if (seqs.size > 0) forget(tables, (row) => seqs.has(row.seq))
  return seqs.size
}

const expireIncidents = (
  tables: MemoryTables,
  { incidents: bound }: RetentionBounds,
  limit: number,
): number => {
  if (bound === undefined) return 0
  const doomed = Array.from(tables.incidents.values())
    .filter((incident) => incident.resolved_at !== undefined && incident.resolved_at < bound)
    .slice(0, limit)
  for (const { id } of doomed) {
    tables.incidents.delete(id)
    tables.members.delete(id)
    tables.incidentChanges.delete(id)
    tables.alerts.delete(id)
  }
  return doomed.length
}

const expireOutbox = (tables: MemoryTables, { outbox: bound }: RetentionBounds, limit: number): number => {
  if (bound === undefined) return 0
  const doomed = Array.from(tables.outbox.values())
    .filter((item) => ENDED.has(item.state) && item.updated_at < bound)
    .slice(0, limit)
  for (const item of doomed) {
    tables.outbox.delete(item.id)
    const ofIncident = tables.outboxOfIncidents.get(item.incident_id)
    ofIncident?.splice(ofIncident.indexOf(item.id), 1)
  }
  return doomed.length
}

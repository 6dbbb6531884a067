import type { Instant } from "@tocsin/contract/Instant"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentLogRecord, IncidentRecord, LogEntry } from "../model/IncidentRecord.ts"

/** Stores an incident as the act leaves it, with the act as part of its timeline. */
export const recordLogEntry = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  { action, actor, text, ack_until, severity }: LogEntry,
  now: Instant,
): IncidentLogRecord => {
  const seq = incident.log_entries + 1
  const recorded = { incident_id: incident.id, seq, logged_at: now, action, actor, text, ack_until, severity }
  unit.incidents.put({ ...incident, log_entries: seq })
  unit.recordLogEntry(recorded)
  return recorded
}

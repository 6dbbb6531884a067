import type { Instant } from "@tocsin/contract/Instant"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import type { Act, IncidentActRecord } from "../model/IncidentActRecord.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"

/** Stores an incident as the act leaves it, with the act as part of its story. */
export const recordAct = (
  workspace: Workspace,
  incident: IncidentRecord,
  { act, actor, text, ack_until, severity }: Act,
  now: Instant,
): IncidentActRecord => {
  const seq = incident.acts + 1
  const recorded = { incident_id: incident.id, seq, acted_at: now, act, actor, text, ack_until, severity }
  workspace.incidents.put({ ...incident, acts: seq })
  workspace.recordAct(recorded)
  return recorded
}

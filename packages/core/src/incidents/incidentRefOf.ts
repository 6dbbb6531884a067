import type { AgentId, CheckId } from "../contract/Identifiers.ts"
import { IncidentKey } from "../contract/Identifiers.ts"
import type { IncidentRef } from "./IncidentRecord.ts"

const LONGEST_KEY = 256

/** The incident of an event: that of the key it names, otherwise the automatic one of its agent and check (decisions §7). */
export const incidentRefOf = (
  event: {
    readonly agent_id: AgentId
    readonly check_id: CheckId
    readonly incident_key?: IncidentKey | undefined
  },
  sha256: (text: string) => string,
): IncidentRef => {
  if (event.incident_key !== undefined) return { kind: "named", incident_key: event.incident_key }
  const text = `${event.agent_id}/${event.check_id}`
  const key = text.length <= LONGEST_KEY ? text : `sha256:${sha256(text)}`
  return { kind: "automatic", incident_key: IncidentKey.make(key) }
}

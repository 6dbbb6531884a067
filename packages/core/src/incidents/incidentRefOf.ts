import type { AgentId, CheckId, IncidentKey } from "../contract/Identifiers.ts"
import type { IncidentRef } from "./IncidentRecord.ts"

const LONGEST_KEY = 256

/** The incident of an agent's event: that of the key it names, otherwise the automatic one of its check (docs/rules.md#incidents). */
export const incidentRefOf = (
  agentId: AgentId,
  event: { readonly check_id: CheckId; readonly incident_key?: IncidentKey | undefined },
  sha256: (text: string) => string,
): IncidentRef => {
  if (event.incident_key !== undefined) return { kind: "named", incident_key: event.incident_key }
  const text = `${agentId}/${event.check_id}`
  const key = text.length <= LONGEST_KEY ? text : `sha256:${sha256(text)}`
  // A key by its schema, which would read it once more: ids hold plain text alone.
  return { kind: "automatic", incident_key: key as IncidentKey }
}

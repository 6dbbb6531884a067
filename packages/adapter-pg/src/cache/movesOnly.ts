import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"

/** What becomes of a column in a change that the verifying statement can write. */
type ColumnFate = "moves" | "stays"

const agentColumns: Readonly<Record<keyof AgentRecord, ColumnFate>> = {
  agent_id: "stays",
  registration_id: "stays",
  admission_state: "stays",
  hostname: "stays",
  features: "stays",
  labels: "stays",
  observed_at: "moves",
  last_seen_at: "moves",
  registered_at: "stays",
  accepted_key_hash: "stays",
  pending_key_hash: "stays",
  key_fingerprint: "stays",
  heartbeat_incident_id: "stays",
  checks_ok: "stays",
  checks_warning: "stays",
  checks_critical: "stays",
  checks_unknown: "stays",
}

const checkColumns: Readonly<Record<keyof CheckRecord, ColumnFate>> = {
  agent_id: "stays",
  registration_id: "stays",
  check_id: "stays",
  status: "stays",
  exit_code: "stays",
  last_observed_at: "moves",
  received_at: "moves",
  incident_key: "stays",
  summary: "moves",
  seen_event_ids: "moves",
  incident_id: "stays",
}

const staying = <Row>(columns: Readonly<Record<keyof Row, ColumnFate>>): ReadonlyArray<keyof Row> =>
  // Object.keys forgets which names the type has; it has no others.
  (Object.keys(columns) as Array<keyof Row>).filter((column) => columns[column] === "stays")

const stayingOfAgent = staying(agentColumns)
const stayingOfCheck = staying(checkColumns)

/** Features and labels: flat objects of texts and booleans. */
const isSameObject = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  const entries = Object.entries(a)
  if (entries.length !== Object.keys(b).length) return false
  const others = new Map(Object.entries(b))
  return entries.every(([name, value]) => others.has(name) && others.get(name) === value)
}

const staysIn = <Row>(columns: ReadonlyArray<keyof Row>, before: Row, after: Row): boolean => {
  for (const column of columns) {
    if (before[column] !== after[column] && !isSameObject(before[column], after[column])) return false
  }
  return true
}

/** Whether an agent was merely seen: what every heartbeat and batch changes. */
export const isOnlySeen = (before: AgentRecord, after: AgentRecord): boolean =>
  staysIn(stayingOfAgent, before, after)

/** Whether a check was merely refreshed: what every unchanged result changes. */
export const isOnlyRefreshed = (before: CheckRecord, after: CheckRecord): boolean =>
  staysIn(stayingOfCheck, before, after)

import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { AgentFeatures } from "@tocsin/core/contract/Requests"
import type { Labels } from "@tocsin/core/contract/Labels"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { AgentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { type Column, RowWriter } from "./RowWriter.ts"

type Field<Name extends keyof AgentRecord> = Exclude<AgentRecord[Name], undefined>

const KEY: ReadonlyArray<Column<AgentRecord>> = [{ name: "agent_id", of: (agent) => agent.agent_id }]
const REST: ReadonlyArray<Column<AgentRecord>> = [
  { name: "registration_id", of: (agent) => agent.registration_id },
  { name: "admission_state", of: (agent) => agent.admission_state },
  { name: "pending_key_hash", of: (agent) => agent.pending_key_hash },
  { name: "observed_at", of: (agent) => agent.observed_at },
  { name: "last_seen_at", of: (agent) => agent.last_seen_at },
  { name: "registered_at", of: (agent) => agent.registered_at },
  { name: "checks_ok", of: (agent) => agent.checks_ok },
  { name: "checks_warning", of: (agent) => agent.checks_warning },
  { name: "checks_critical", of: (agent) => agent.checks_critical },
  { name: "checks_unknown", of: (agent) => agent.checks_unknown },
  { name: "key_fingerprint", of: (agent) => agent.key_fingerprint },
  { name: "accepted_key_hash", of: (agent) => agent.accepted_key_hash },
  { name: "heartbeat_incident_id", of: (agent) => agent.heartbeat_incident_id },
  { name: "hostname", of: (agent) => agent.hostname },
  {
    name: "features",
    of: (agent) => agent.features,
    write: (agent) => JSON.stringify(agent.features),
  },
  {
    name: "labels",
    of: (agent) => agent.labels,
    write: (agent) => (agent.labels === undefined ? null : JSON.stringify(agent.labels)),
  },
]

/** The columns of an agent, in the order of {@link AgentRow}. */
export const AGENT_COLUMNS = [...KEY, ...REST].map(({ name }) => name)

export type AgentRow = readonly [
  agent_id: AgentId,
  registration_id: Field<"registration_id">,
  admission_state: Field<"admission_state">,
  pending_key_hash: Field<"pending_key_hash"> | null,
  observed_at: Instant,
  last_seen_at: Instant,
  registered_at: Instant,
  checks_ok: bigint,
  checks_warning: bigint,
  checks_critical: bigint,
  checks_unknown: bigint,
  key_fingerprint: Field<"key_fingerprint">,
  accepted_key_hash: Field<"accepted_key_hash"> | null,
  heartbeat_incident_id: Field<"heartbeat_incident_id"> | null,
  hostname: string,
  features: string,
  labels: string | null,
]

/** The record of a row that `AGENT_COLUMNS` selected. */
export const toAgent = (row: AgentRow): AgentRecord => ({
  agent_id: row[0],
  registration_id: row[1],
  admission_state: row[2],
  pending_key_hash: row[3] ?? undefined,
  observed_at: row[4],
  last_seen_at: row[5],
  registered_at: row[6],
  checks_ok: Number(row[7]),
  checks_warning: Number(row[8]),
  checks_critical: Number(row[9]),
  checks_unknown: Number(row[10]),
  key_fingerprint: row[11],
  accepted_key_hash: row[12] ?? undefined,
  heartbeat_incident_id: row[13] ?? undefined,
  hostname: row[14],
  // JSON.parse makes own properties of all keys, `__proto__` too. Both texts were written above.
  features: JSON.parse(row[15]) as AgentFeatures,
  labels: row[16] === null ? undefined : (JSON.parse(row[16]) as Labels),
})

const SELECT = `SELECT ${AGENT_COLUMNS.join(", ")} FROM agent`

/** Table `agent`. */
export const makeAgentRows = (connection: SqliteConnection) => {
  const byId = connection.query<AgentRow>(`${SELECT} WHERE agent_id = ?`)
  const writer = new RowWriter<AgentRecord>(connection, { table: "agent", key: KEY, rest: REST })
  const countPending = connection.query<[bigint]>(
    "SELECT count(*) FROM agent WHERE admission_state = 'pending'",
  )
  const withPendingKey = connection.query<[AgentId]>(
    "SELECT agent_id FROM agent WHERE pending_key_hash IS NOT NULL AND agent_id > ? ORDER BY agent_id LIMIT ?",
  )
  const idlePending = connection.query<AgentRow>(
    `${SELECT} WHERE admission_state = 'pending' AND last_seen_at <= ? LIMIT ?`,
  )
  return {
    find: (agentId: AgentId): AgentRecord | undefined => {
      const row = byId.get(agentId)
      return row && toAgent(row)
    },
    countPending: (): number => Number(countPending.get()?.[0] ?? 0),
    withPendingKey: (after: AgentId | undefined, limit: number): ReadonlyArray<AgentId> =>
      withPendingKey.all(after ?? "", limit).map(([agentId]) => agentId),
    idlePending: (seenBefore: Instant, limit: number) => idlePending.all(seenBefore, limit).map(toAgent),
    write: (change: Change<AgentRecord>): void => writer.write(change),
  }
}

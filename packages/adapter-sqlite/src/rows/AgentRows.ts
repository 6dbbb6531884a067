import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { AgentFeatures } from "@tocsin/core/contract/AgentFeatures"
import type { AgentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { Labels } from "@tocsin/core/contract/Labels"
import type { SystemCounts } from "@tocsin/core/liveness/SystemCounts"
import type { Change } from "@tocsin/core/workspace/Table"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { upsert } from "./upsert.ts"

type Field<Name extends keyof AgentRecord> = Exclude<AgentRecord[Name], undefined>

/** Columns that stand in an index, or never change in a registration's life: left alone by the usual heartbeat. */
const SETTLED = ["agent_id", "registration_id", "admission_state", "pending_key_hash"] as const
const MOVING = [
  "observed_at",
  "last_seen_at",
  "registered_at",
  "checks_ok",
  "checks_warning",
  "checks_critical",
  "checks_unknown",
  "key_fingerprint",
  "accepted_key_hash",
  "heartbeat_incident_id",
  "hostname",
  "features",
  "labels",
] as const

/** The columns of an agent, in the order of {@link AgentRow}. */
export const AGENT_COLUMNS = [...SETTLED, ...MOVING]

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
  // JSON.parse makes own properties of all keys, `__proto__` too. Both texts were written below.
  features: JSON.parse(row[15]) as AgentFeatures,
  labels: row[16] === null ? undefined : (JSON.parse(row[16]) as Labels),
})

const settledValues = (agent: AgentRecord) => [
  agent.agent_id,
  agent.registration_id,
  agent.admission_state,
  agent.pending_key_hash ?? null,
]

const movingValues = (agent: AgentRecord) => [
  agent.observed_at,
  agent.last_seen_at,
  agent.registered_at,
  agent.checks_ok,
  agent.checks_warning,
  agent.checks_critical,
  agent.checks_unknown,
  agent.key_fingerprint,
  agent.accepted_key_hash ?? null,
  agent.heartbeat_incident_id ?? null,
  agent.hostname,
  JSON.stringify(agent.features),
  agent.labels === undefined ? null : JSON.stringify(agent.labels),
]

type CountsRow = readonly [
  ...agents: [bigint, bigint],
  ...checks: [bigint, bigint, bigint, bigint],
  incidents: bigint,
]

const SELECT = `SELECT ${AGENT_COLUMNS.join(", ")} FROM agent`

const isSettled = (before: AgentRecord | undefined, after: AgentRecord): boolean =>
  before?.registration_id === after.registration_id &&
  before.admission_state === after.admission_state &&
  before.pending_key_hash === after.pending_key_hash

/** Table `agent`. */
export const makeAgentRows = (connection: SqliteConnection) => {
  const byId = connection.query<AgentRow>(`${SELECT} WHERE agent_id = ?`)
  const write = connection.query(upsert("agent", AGENT_COLUMNS, ["agent_id"]))
  const move = connection.query(
    `UPDATE agent SET ${MOVING.map((column) => `${column} = ?`).join(", ")} WHERE agent_id = ?`,
  )
  const remove = connection.query("DELETE FROM agent WHERE agent_id = ?")
  const countPending = connection.query<[bigint]>(
    "SELECT count(*) FROM agent WHERE admission_state = 'pending'",
  )
  const withPendingKey = connection.query<[AgentId]>(
    "SELECT agent_id FROM agent WHERE pending_key_hash IS NOT NULL AND agent_id > ? ORDER BY agent_id LIMIT ?",
  )
  // A pass over all agents: an index on last_seen_at would have to move with every result of every check.
  const silent = connection.query<AgentRow>(
    `${SELECT} WHERE admission_state = 'accepted' AND last_seen_at <= ? AND heartbeat_incident_id IS NULL LIMIT ?`,
  )
  const idlePending = connection.query<AgentRow>(
    `${SELECT} WHERE admission_state = 'pending' AND last_seen_at <= ? LIMIT ?`,
  )
  const counts = connection.query<CountsRow>(
    `SELECT count(*) FILTER (WHERE admission_state = 'accepted' AND last_seen_at > ?1),
      count(*) FILTER (WHERE admission_state = 'accepted' AND last_seen_at <= ?1),
      coalesce(sum(checks_ok), 0), coalesce(sum(checks_warning), 0),
      coalesce(sum(checks_critical), 0), coalesce(sum(checks_unknown), 0),
      (SELECT count(*) FROM incident WHERE state = 'open')
    FROM agent`,
  )
  return {
    find: (agentId: AgentId): AgentRecord | undefined => {
      const row = byId.get(agentId)
      return row && toAgent(row)
    },
    countPending: (): number => Number(countPending.get()?.[0] ?? 0),
    withPendingKey: (after: AgentId | undefined, limit: number): ReadonlyArray<AgentId> =>
      withPendingKey.all(after ?? "", limit).map(([agentId]) => agentId),
    silent: (seenBefore: Instant, limit: number) => silent.all(seenBefore, limit).map(toAgent),
    idlePending: (seenBefore: Instant, limit: number) => idlePending.all(seenBefore, limit).map(toAgent),
    counts: (aliveSince: Instant): SystemCounts => {
      const [online, offline, ok, warning, critical, unknown, incidents] = counts.get(aliveSince) ?? NO_COUNTS
      return {
        agents_online: Number(online),
        agents_offline: Number(offline),
        checks_ok: Number(ok),
        checks_warning: Number(warning),
        checks_critical: Number(critical),
        checks_unknown: Number(unknown),
        open_incidents: Number(incidents),
      }
    },
    write: ({ before, after }: Change<AgentRecord>): void => {
      if (after === undefined) {
        if (before !== undefined) remove.run(before.agent_id)
      } else if (isSettled(before, after)) move.run(...movingValues(after), after.agent_id)
      else write.run(...settledValues(after), ...movingValues(after))
    },
  }
}

const NO_COUNTS: CountsRow = [0n, 0n, 0n, 0n, 0n, 0n, 0n]

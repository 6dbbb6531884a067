import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Nullable } from "./Nullable.ts"
import {
  deleteStatement,
  insertStatement,
  selectList,
  type TableShape,
  updateStatement,
} from "./TableShape.ts"

const shape: TableShape<AgentRecord> = {
  name: "agent",
  key: ["agent_id"],
  insertOrder: ["agent_id"],
  columns: {
    agent_id: "text",
    registration_id: "uuid",
    admission_state: "text",
    hostname: "text",
    features: "json",
    labels: "json",
    observed_at: "int8",
    last_seen_at: "int8",
    registered_at: "int8",
    accepted_key_hash: "text",
    pending_key_hash: "text",
    key_fingerprint: "text",
    heartbeat_incident_id: "text",
    checks_ok: "int4",
    checks_warning: "int4",
    checks_critical: "int4",
    checks_unknown: "int4",
  },
}

type AgentRow = Nullable<
  AgentRecord,
  "labels" | "accepted_key_hash" | "pending_key_hash" | "heartbeat_incident_id"
>

/** Columns of an agent, of the table alias `a`. */
export const agentColumns = selectList(shape.columns, "a")

/** Inserts agents; fails where another transaction registered one meanwhile. */
export const insertAgents = insertStatement(shape)

/** Replaces agents, which must be locked. */
export const updateAgents = updateStatement(shape)

/** Deletes agents, which must be locked. */
export const deleteAgents = deleteStatement(shape)

const lockGivenAgents = `SELECT ${agentColumns}, a.xmin AS version FROM agent AS a
  WHERE a.agent_id = ANY($1) ORDER BY a.agent_id FOR UPDATE`

/** Locks agents, in the order of their ids, and with them their keys, checks and history. */
export const lockAgents: PgStatement = { name: "lock_agents", text: lockGivenAgents }

/** Locks the agents that no other transaction holds, so that a group of commands waits for none of them. */
export const lockFreeAgents: PgStatement = {
  name: "lock_free_agents",
  text: `${lockGivenAgents} SKIP LOCKED`,
}

/** Reads which of these agents exist. */
export const findAgentIds: PgStatement = {
  name: "find_agent_ids",
  text: "SELECT agent_id FROM agent WHERE agent_id = ANY($1)",
}

/** Reads one agent. */
export const findAgent: PgStatement = {
  name: "find_agent",
  text: `SELECT ${agentColumns} FROM agent AS a WHERE a.agent_id = $1`,
}

/** Locks pending agents that were last seen by `$1`, passing over locked ones; an index holds pending ones. */
export const lockIdlePendingAgents: PgStatement = {
  name: "lock_idle_pending_agents",
  text: `SELECT ${agentColumns} FROM agent AS a
         WHERE a.admission_state = 'pending' AND a.last_seen_at <= $1
         ORDER BY a.agent_id LIMIT $2 FOR UPDATE SKIP LOCKED`,
}

/** Makes registrations wait for each other until the transaction ends. The number is any that nothing else locks. */
export const lockRegistrations: PgStatement = {
  name: "lock_registrations",
  text: "SELECT pg_advisory_xact_lock(7243197001) AS locked",
}

/** Counts the pending agents; an index holds only them. */
export const countPendingAgents: PgStatement = {
  name: "count_pending_agents",
  text: "SELECT count(*)::int4 AS pending FROM agent WHERE admission_state = 'pending'",
}

/** Reads a step of the ids of agents that have a pending key. */
export const findAgentsWithPendingKey: PgStatement = {
  name: "find_agents_with_pending_key",
  text: `SELECT agent_id FROM agent
         WHERE pending_key_hash IS NOT NULL AND agent_id > $1 ORDER BY agent_id LIMIT $2`,
}

/** Notes registrations whose agents are deleted, so that the rows of their checks and history are removed later. */
export const insertRemovedRegistrations = insertStatement<RemovedRegistration>({
  name: "removed_registration",
  key: ["registration_id"],
  insertOrder: [],
  columns: { agent_id: "text", registration_id: "uuid" },
})

/** A registration whose agent is deleted. */
export type RemovedRegistration = Pick<AgentRecord, "agent_id" | "registration_id">

/** Reads a row that was selected by {@link agentColumns}. */
export const decodeAgent = (found: SqlConnection.Row): AgentRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const row = found as unknown as AgentRow
  return {
    ...row,
    labels: row.labels ?? undefined,
    accepted_key_hash: row.accepted_key_hash ?? undefined,
    pending_key_hash: row.pending_key_hash ?? undefined,
    heartbeat_incident_id: row.heartbeat_incident_id ?? undefined,
  }
}

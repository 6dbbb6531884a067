import { storedTables } from "@tocsin/core/lists/StoredTables"
import { ADVISORY_LOCKS } from "../Database.ts"
import { makeTable } from "./makeTable.ts"
import { keyedTables } from "./keyedTables.ts"

/**
 * Locks blocked keys, by the ids of their blacklist rows. The lock of an agent guards its own keys, and neither blocked
 * ones nor a key of another agent that a request presents, so keys are locked too.
 */
export const lockBlockedKeys = keyedTables.agent_key.select(
  "WHERE k.blacklist_id = ANY($1) AND k.state = 'blocked' ORDER BY k.key_hash FOR UPDATE",
)

/** Agents. The lock of an agent guards its keys, checks and history too. */
export const agentTable = makeTable(storedTables.agent, { alias: "a", insertOrder: ["agent_id"] })

export const lockAgents = `SELECT ${agentTable.columns}, a.xmin AS version FROM agent AS a
  WHERE a.agent_id = ANY($1) ORDER BY a.agent_id FOR UPDATE`

/** Locks the agents that no other transaction has locked: a group of commands waits for none of them. */
export const lockFreeAgents = `${lockAgents} SKIP LOCKED`

export const findAgentIds = "SELECT agent_id FROM agent WHERE agent_id = ANY($1)"

export const findAgents = agentTable.select("WHERE a.agent_id = ANY($1)")

/** Whether an agent is silent since `$1`, as `isSilent` decides. */
const IS_SILENT = `admission_state = 'accepted' AND heartbeat_incident_id IS NULL
  AND last_seen_at <= $1 AND (reachable_from IS NULL OR reachable_from <= $1)`

/** Reads all agents, unless many are silent. */
export const findSilentAgents = `SELECT agent_id FROM agent
  WHERE (${IS_SILENT}) OR twice_at <= $3 ORDER BY agent_id LIMIT $2`

/** Reads agents, and those that are silent since `$1`. */
export const findParentAgents = agentTable.select(
  `WHERE a.agent_id = ANY($2) OR (${IS_SILENT}) ORDER BY a.agent_id LIMIT $3`,
)

/** Locks pending agents that were last seen by `$1`, skipping locked ones. An index holds them. */
export const lockIdlePendingAgents = agentTable.select(
  `WHERE a.admission_state = 'pending' AND a.last_seen_at <= $1
  ORDER BY a.agent_id LIMIT $2 FOR UPDATE SKIP LOCKED`,
)

export const lockRegistrations = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.registrations}) AS locked`

export const countPendingAgents = "SELECT coalesce(sum(agents_pending), 0)::int4 AS pending FROM system_total"

export const findAgentsWithPendingKey = `SELECT agent_id FROM agent
  WHERE pending_key_hash IS NOT NULL AND agent_id > $1 ORDER BY agent_id LIMIT $2`

/** Registrations of deleted agents, whose checks and history are removed in pieces. */
export const removedRegistrationTable = makeTable(storedTables.removed_registration, { alias: "r" })

import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { AgentId, BlacklistId } from "@tocsin/contract/formats/Identifiers"
import type { ParentSearch } from "@tocsin/core/kernel/unitOfWork/Search"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { storedTables } from "@tocsin/core/lists/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable, makeKeyedTable } from "./makeTable.ts"

export const makeAgentKeyTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "agent_key")
  return {
    ...table,
    findBlocked: table.one<[BlacklistId]>("WHERE blacklist_id = ? AND state = 'blocked'"),
  }
}

/** Whether an agent is silent since `?2`, as `isSilent` decides. */
export const IS_SILENT = `admission_state = 'accepted' AND heartbeat_incident_id IS NULL
  AND last_seen_at <= ?2 AND (reachable_from IS NULL OR reachable_from <= ?2)`

export const makeAgentTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.agent)
  const countPending = connection.query<[bigint]>("SELECT agents_pending FROM system_total WHERE writer = 0")
  const withPendingKey = connection.query<[AgentId]>(
    "SELECT agent_id FROM agent WHERE pending_key_hash IS NOT NULL AND agent_id > ? ORDER BY agent_id LIMIT ?",
  )
  const isNamed = "agent_id IN (SELECT value FROM json_each(?1))"
  const these = table.all<[named: string, limit: number]>(`WHERE ${isNamed} ORDER BY agent_id LIMIT ?`)
  const stale = table.all<[named: string, staleSince: Instant, limit: number]>(
    `WHERE ${isNamed} OR (${IS_SILENT}) ORDER BY agent_id LIMIT ?3`,
  )
  return {
    find: table.one<[AgentId]>("WHERE agent_id = ?"),
    countPending: (): number => Number(countPending.get()?.[0] ?? 0),
    withPendingKey: (after: AgentId | undefined, limit: number): ReadonlyArray<AgentId> =>
      withPendingKey.all(after ?? "", limit).map(([agentId]) => agentId),
    idlePending: table.all<[seenBefore: Instant, limit: number]>(
      "WHERE admission_state = 'pending' AND last_seen_at <= ? ORDER BY agent_id LIMIT ?",
    ),
    /** These agents, and accepted ones without a heartbeat incident that were last seen by a moment. */
    parents: ({ agents, limit, staleSince }: ParentSearch): ReadonlyArray<AgentRecord> => {
      const named = JSON.stringify(agents)
      return staleSince === undefined ? these(named, limit) : stale(named, staleSince, limit)
    },
    write: table.write,
  }
}

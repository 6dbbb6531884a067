import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import type { AgentId, CheckId, RegistrationId } from "@tocsin/core/contract/Identifiers"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { RowVersion } from "../cache/AgentCache.ts"
import type { PgClient } from "../client/PgClient.ts"
import { decodeAgent, lockFreeAgents } from "../tables/AgentTable.ts"
import { decodeCheck, findChecksOfAgents } from "../tables/CheckTable.ts"
import type { AgentScope } from "./GroupScope.ts"

/** The versions of what was loaded. */
export interface LoadedVersions {
  /** By the row; rows are immutable, so a row that is found here is unchanged. */
  readonly rows: Map<AgentRecord | CheckRecord, RowVersion>
  /** Those of the agents, whatever was made of them since. */
  readonly agents: Map<AgentId, RowVersion>
}

interface Loading {
  readonly pg: PgClient["Service"]
  readonly workspace: Workspace
  readonly versions: LoadedVersions
}

/** Splits the version off a row. */
const versioned = <Row extends AgentRecord | CheckRecord>(
  { version, ...columns }: SqlConnection.Row,
  decode: (row: SqlConnection.Row) => Row,
  { rows }: LoadedVersions,
): Row => {
  const row = decode(columns)
  rows.set(row, Number(version))
  return row
}

/**
 * Locks those of these agents that exist and that nobody else holds, and loads the checks that are asked for with them.
 * Each part for all of them is one statement.
 */
export const loadAgents = Effect.fnUntraced(function* (
  { pg, versions, workspace }: Loading,
  asked: ReadonlyArray<AgentScope>,
): Effect.fn.Return<void, SqlError.SqlError> {
  const checkIds = new Map<AgentId, Set<CheckId>>()
  for (const { agent_id, check_ids } of asked) {
    const ids = checkIds.get(agent_id)
    if (ids === undefined) checkIds.set(agent_id, new Set(check_ids))
    else for (const id of check_ids) ids.add(id)
  }
  const agents = yield* pg.query(lockFreeAgents, [Array.from(checkIds.keys())])
  const wanted: Array<{
    agent_id: AgentId
    registration_id: RegistrationId
    check_ids: ReadonlyArray<CheckId>
  }> = []
  for (const found of agents) {
    const agent = versioned(found, decodeAgent, versions)
    const { agent_id, registration_id } = agent
    workspace.agents.load(agent_id, agent)
    versions.agents.set(agent_id, Number(found["version"]))
    const check_ids = Array.from(checkIds.get(agent_id) ?? [])
    if (check_ids.length > 0) wanted.push({ agent_id, registration_id, check_ids })
  }
  if (wanted.length === 0) return
  for (const found of yield* pg.queryJson(findChecksOfAgents, wanted)) {
    const check = versioned(found, decodeCheck, versions)
    workspace.checks.load(check, check)
  }
  for (const { agent_id, registration_id, check_ids } of wanted) {
    for (const check_id of check_ids)
      workspace.checks.load({ agent_id, registration_id, check_id }, undefined)
  }
})

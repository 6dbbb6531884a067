import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { AgentId, CheckId, EventId, RegistrationId } from "@tocsin/core/contract/Identifiers"
import type { Scope } from "@tocsin/core/workspace/Scope"
import type { Workspace } from "@tocsin/core/workspace/Workspace"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { RowVersion } from "../cache/AgentCache.ts"
import type { PgClient } from "../client/PgClient.ts"
import { decodeAgent, lockFreeAgents } from "../tables/AgentTable.ts"
import { decodeCheck, findChecksOfAgents } from "../tables/CheckTable.ts"
import { findKnownEventsOfAgents } from "../tables/HistoryTable.ts"
import { loadIncidents } from "../transactions/loadIncidents.ts"
import { loadMembers } from "../transactions/loadMembers.ts"
import type { AgentScope } from "./Submission.ts"

type Pg = PgClient["Service"]

/** The rows that were loaded, each with its version. Rows are immutable, so a row that is found here is unchanged. */
export type LoadedVersions = Map<AgentRecord | CheckRecord, RowVersion>

/** A workspace that is filled in a transaction. */
export interface Loading {
  readonly pg: Pg
  readonly workspace: Workspace
  readonly versions: LoadedVersions
}

/** Splits the version off a row. */
const versioned = <Row extends AgentRecord | CheckRecord>(
  { version, ...columns }: SqlConnection.Row,
  decode: (row: SqlConnection.Row) => Row,
  versions: LoadedVersions,
): Row => {
  const row = decode(columns)
  versions.set(row, Number(version))
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

/** Loads what several decisions of loaded agents are about to ask for, each table once, so that locks keep their order. */
export const loadForeseen = Effect.fnUntraced(function* (
  { pg, workspace }: Loading,
  foreseen: ReadonlyArray<Scope>,
): Effect.fn.Return<void, SqlError.SqlError> {
  yield* loadHistory(pg, workspace, foreseen)
  const incidents = Array.from(new Set(foreseen.flatMap((scope) => scope.incidents ?? [])))
  const refs = foreseen.flatMap((scope) => scope.openIncidents ?? [])
  const openIncidents = Array.from(
    new Map(refs.map((ref) => [`${ref.kind}/${ref.incident_key}`, ref])).values(),
  )
  if (incidents.length > 0 || openIncidents.length > 0) {
    yield* loadIncidents(pg, workspace, { incidents, openIncidents })
  }
  const members = foreseen.flatMap((scope) => scope.members ?? [])
  if (members.length > 0) yield* loadMembers(pg, workspace, { members })
})

const loadHistory = Effect.fnUntraced(function* (
  pg: Pg,
  workspace: Workspace,
  foreseen: ReadonlyArray<Scope>,
) {
  const eventIds = new Map<AgentId, Set<EventId>>()
  for (const { history } of foreseen) {
    if (history === undefined || history.event_ids.length === 0) continue
    const ids = eventIds.get(history.agent_id) ?? new Set()
    for (const id of history.event_ids) ids.add(id)
    eventIds.set(history.agent_id, ids)
  }
  if (eventIds.size === 0) return
  const wanted = Array.from(eventIds, ([agent_id, ids]) => ({
    agent_id,
    // Decisions foresee events of agents that they have seen.
    registration_id: workspace.agents.get(agent_id)?.registration_id ?? null,
    event_ids: Array.from(ids),
  }))
  // The column holds nothing but what was an EventId when it was written.
  const found = new Set(
    (yield* pg.queryJson(findKnownEventsOfAgents, wanted)).map(
      (row) => `${row["registration_id"]}/${row["event_id"]}`,
    ),
  )
  for (const { event_ids, registration_id } of wanted) {
    if (registration_id === null) continue
    const known = new Set(event_ids.filter((id) => found.has(`${registration_id}/${id}`)))
    workspace.knownEvents.load(registration_id, event_ids, known)
  }
})

import type { AgentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import {
  countPendingAgents,
  decodeAgent,
  findAgentIds,
  lockAgents,
  lockFreeAgents,
  lockRegistrations,
} from "../tables/AgentTable.ts"
import { decodeCheck, findChecks } from "../tables/CheckTable.ts"
import { decodeKnown, findKnownEvents } from "../tables/HistoryTable.ts"
import { decodeMark, lockMark } from "../tables/MarkTable.ts"
import { loadIncidents } from "./loadIncidents.ts"
import { loadKeys } from "./loadKeys.ts"
import { loadMembers } from "./loadMembers.ts"
import { loadOutbox } from "./loadOutbox.ts"
import { search } from "./search.ts"

type Pg = PgClient["Service"]
type Loading = Effect.Effect<void, SqlError.SqlError>

const isAsked = (part: ReadonlyArray<unknown> | undefined): boolean => part !== undefined && part.length > 0

/**
 * Brings the rows of a request into a workspace, in a transaction at READ COMMITTED. Locks in one order, and reads what a lock
 * guards in a later statement than the one that waited for it, which sees what the previous holder left.
 */
export const loadRows = Effect.fnUntraced(function* (
  pg: Pg,
  workspace: Workspace,
  request: RowRequest,
  now: Instant,
): Effect.fn.Return<void, SqlError.SqlError> {
  if (isAsked(request.agents)) {
    yield* (request.passesHeld ? loadFreeAgents : loadAgents)(pg, workspace, request.agents ?? [])
  }
  if (isAsked(request.keys) || isAsked(request.keysOfAgents) || isAsked(request.blacklist)) {
    yield* loadKeys(pg, workspace, request)
  }
  if (request.checks !== undefined) yield* loadChecks(pg, workspace, request.checks)
  if (request.history !== undefined) yield* loadHistory(pg, workspace, request.history)
  if (isAsked(request.incidents) || isAsked(request.openIncidents))
    yield* loadIncidents(pg, workspace, request)
  if (isAsked(request.members) || isAsked(request.membersOfAgents) || request.worstMembers !== undefined) {
    yield* loadMembers(pg, workspace, request)
  }
  if (isAsked(request.outboxItems) || isAsked(request.alerts)) yield* loadOutbox(pg, workspace, request)
  yield* search(pg, workspace, request, now)
  if (request.mark) yield* loadMark(pg, workspace)
  if (request.pendingAgents) yield* loadPendingAgents(pg, workspace)
})

const loadAgents = (pg: Pg, workspace: Workspace, ids: ReadonlyArray<AgentId>): Loading =>
  Effect.map(pg.query(lockAgents, [ids]), (rows) => {
    for (const agent of rows.map(decodeAgent)) workspace.agents.load(agent.agent_id, agent)
    for (const id of ids) workspace.agents.load(id, undefined)
  })

/** Loads agents that nobody holds. One that was not found is absent only if it is not there without a lock either. */
const loadFreeAgents = Effect.fnUntraced(function* (
  pg: Pg,
  workspace: Workspace,
  ids: ReadonlyArray<AgentId>,
) {
  const rows = yield* pg.query(lockFreeAgents, [ids])
  for (const agent of rows.map(({ version: _version, ...row }) => decodeAgent(row)))
    workspace.agents.load(agent.agent_id, agent)
  const missed = ids.filter((id) => !workspace.agents.isLoaded(id))
  if (missed.length === 0) return
  const held = new Set((yield* pg.query(findAgentIds, [missed])).map((row) => row["agent_id"]))
  for (const id of missed) if (!held.has(id)) workspace.agents.load(id, undefined)
})

const loadChecks = (pg: Pg, workspace: Workspace, asked: NonNullable<RowRequest["checks"]>): Loading => {
  const { agent_id, check_ids } = asked
  const registration_id = workspace.agents.get(agent_id)?.registration_id
  if (registration_id === undefined || check_ids.length === 0) return Effect.void
  return Effect.map(pg.query(findChecks, [agent_id, registration_id, check_ids]), (rows) => {
    for (const check of rows.map(decodeCheck)) workspace.checks.load(check, check)
    for (const check_id of check_ids)
      workspace.checks.load({ agent_id, registration_id, check_id }, undefined)
  })
}

const loadHistory = (pg: Pg, workspace: Workspace, asked: NonNullable<RowRequest["history"]>): Loading => {
  const { agent_id, event_ids } = asked
  const registration_id = workspace.agents.get(agent_id)?.registration_id
  if (registration_id === undefined || event_ids.length === 0) return Effect.void
  return Effect.map(pg.query(findKnownEvents, [agent_id, registration_id, event_ids]), (rows) => {
    workspace.knownEvents.load(registration_id, event_ids, new Map(rows.map(decodeKnown)))
  })
}

const loadMark = (pg: Pg, workspace: Workspace): Loading =>
  Effect.map(pg.query(lockMark, ["service"]), (rows) =>
    workspace.marks.load("service", rows.map(decodeMark)[0]),
  )

const loadPendingAgents = Effect.fnUntraced(function* (pg: Pg, workspace: Workspace) {
  yield* pg.query(lockRegistrations, [])
  const rows = yield* pg.query(countPendingAgents, [])
  workspace.loadPendingAgents(Number(rows[0]?.["pending"]))
})

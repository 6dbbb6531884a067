import type { AgentId, EventId } from "@tocsin/core/contract/Identifiers"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { decodeKnown, findKnownEventsOfAgents } from "../tables/HistoryTable.ts"
import { loadIncidents } from "../transactions/loadIncidents.ts"
import { loadMembers } from "../transactions/loadMembers.ts"

type Pg = PgClient["Service"]

/** Loads what several decisions of loaded agents are about to ask for, each table once, so that locks keep their order. */
export const loadPredicted = Effect.fnUntraced(function* (
  pg: Pg,
  workspace: Workspace,
  predicted: ReadonlyArray<RowRequest>,
): Effect.fn.Return<void, SqlError.SqlError> {
  yield* loadHistory(pg, workspace, predicted)
  const incidents = Array.from(new Set(predicted.flatMap((request) => request.incidents ?? [])))
  const refs = predicted.flatMap((request) => request.openIncidents ?? [])
  const openIncidents = Array.from(
    new Map(refs.map((ref) => [`${ref.kind}/${ref.incident_key}`, ref])).values(),
  )
  if (incidents.length > 0 || openIncidents.length > 0) {
    yield* loadIncidents(pg, workspace, { incidents, openIncidents })
  }
  const members = predicted.flatMap((request) => request.members ?? [])
  if (members.length > 0) yield* loadMembers(pg, workspace, { members })
})

const loadHistory = Effect.fnUntraced(function* (
  pg: Pg,
  workspace: Workspace,
  predicted: ReadonlyArray<RowRequest>,
) {
  const eventIds = new Map<AgentId, Set<EventId>>()
  for (const { history } of predicted) {
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
  const rows = yield* pg.queryJson(findKnownEventsOfAgents, wanted)
  for (const { event_ids, registration_id } of wanted) {
    if (registration_id === null) continue
    const known = new Map(rows.filter((row) => row["registration_id"] === registration_id).map(decodeKnown))
    workspace.knownEvents.load(registration_id, event_ids, known)
  }
})

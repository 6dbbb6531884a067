import type { IncidentId } from "@tocsin/core/contract/Identifiers"
import type { IncidentRef } from "@tocsin/core/incidents/IncidentRecord"
import type { OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import type { Scope } from "@tocsin/core/workspace/Scope"
import type { Workspace } from "@tocsin/core/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { decodeIncident, lockIncidents } from "../tables/incidentTable.ts"
import { decodeOutbox, findOutboxOfIncidents } from "../tables/outboxTable.ts"

/** Brings incidents with their outbox items into a workspace, locked. */
export const loadIncidents = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  workspace: Workspace,
  { incidents = [], openIncidents = [] }: Scope,
): Effect.fn.Return<void, SqlError.SqlError> {
  let ids: ReadonlyArray<IncidentId> = incidents
  let refs: ReadonlyArray<IncidentRef> = openIncidents
  // Ends when nobody resolved, while this transaction waited for its lock, an incident that was open when it was found:
  // then another one may be open for that key by now.
  do {
    const wanted = refs.map(({ kind, incident_key }) => ({ kind, incident_key }))
    const found = (yield* pg.query(lockIncidents, [ids, JSON.stringify(wanted)])).map(decodeIncident)
    const outbox = yield* outboxOf(
      pg,
      found.map((incident) => incident.id),
    )
    for (const incident of found) workspace.loadIncident(incident, outbox.get(incident.id) ?? [])
    const resolved = new Set(found.filter(({ state }) => state === "resolved").map(nameOf))
    for (const ref of refs) {
      if (!resolved.has(nameOf(ref))) workspace.openIncidents.load(ref, undefined)
    }
    refs = refs.filter((ref) => !workspace.openIncidents.isLoaded(ref))
    ids = []
  } while (refs.length > 0)
  for (const id of incidents) workspace.incidents.load(id, undefined)
})

const nameOf = ({ kind, incident_key }: IncidentRef): string => `${kind}/${incident_key}`

const outboxOf = Effect.fnUntraced(function* (pg: PgClient["Service"], ids: ReadonlyArray<IncidentId>) {
  if (ids.length === 0) return new Map<IncidentId, Array<OutboxRecord>>()
  const rows = yield* pg.query(findOutboxOfIncidents, [ids])
  return Map.groupBy(rows.map(decodeOutbox), (item) => item.incident_id)
})

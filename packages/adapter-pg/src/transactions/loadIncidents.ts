import type { IncidentId } from "@tocsin/core/contract/Identifiers"
import type { IncidentRef } from "@tocsin/core/incidents/IncidentRecord"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { decodeAlert, lockAlertsOfIncidents } from "../tables/AlertTable.ts"
import { decodeIncident, lockIncidents } from "../tables/IncidentTable.ts"
import { decodeOutbox, lockOutboxOfIncidents } from "../tables/OutboxTable.ts"

/** Brings incidents with their outbox items and alerts into a workspace, locked. */
export const loadIncidents = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  workspace: Workspace,
  { incidents = [], openIncidents = [] }: RowRequest,
): Effect.fn.Return<void, SqlError.SqlError> {
  let ids: ReadonlyArray<IncidentId> = incidents
  let refs: ReadonlyArray<IncidentRef> = openIncidents
  // Ends when nobody resolved, while this transaction waited for its lock, an incident that was open when it was found:
  // then another one may be open for that key by now.
  do {
    const wanted = refs.map(({ kind, incident_key }) => ({ kind, incident_key }))
    const found = (yield* pg.query(lockIncidents, [ids, JSON.stringify(wanted)])).map(decodeIncident)
    const foundIds = found.map((incident) => incident.id)
    const outbox = yield* ofEach(foundIds, pg.query(lockOutboxOfIncidents, [foundIds]), decodeOutbox)
    const alerts = yield* ofEach(foundIds, pg.query(lockAlertsOfIncidents, [foundIds]), decodeAlert)
    for (const incident of found) {
      workspace.loadIncident(incident, outbox.get(incident.id) ?? [], alerts.get(incident.id) ?? [])
    }
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

/** Runs a query over incidents, unless there are none, and sorts its rows by incident. */
const ofEach = Effect.fnUntraced(function* <Row extends { readonly incident_id: IncidentId }>(
  ids: ReadonlyArray<IncidentId>,
  query: Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>,
  decode: (row: SqlConnection.Row) => Row,
) {
  const rowsOf = new Map<IncidentId, Array<Row>>()
  if (ids.length === 0) return rowsOf
  for (const row of (yield* query).map(decode)) {
    const rows = rowsOf.get(row.incident_id)
    if (rows === undefined) rowsOf.set(row.incident_id, [row])
    else rows.push(row)
  }
  return rowsOf
})

import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { IncidentRef } from "@tocsin/core/model/IncidentRecord"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import {
  alertTable,
  lockAlertsOfIncidents,
  outboxTable,
  lockOutboxOfIncidents,
} from "../tables/OutboxTable.ts"
import { incidentTable, lockIncidents, memberTable, findWorstMembers } from "../tables/IncidentTable.ts"
import { all, type Loading, type Requests } from "./Loading.ts"

const nameOf = ({ kind, incident_key }: IncidentRef): string => `${kind}/${incident_key}`

const distinct = (refs: ReadonlyArray<IncidentRef>): ReadonlyArray<IncidentRef> =>
  Array.from(new Map(refs.map((ref) => [nameOf(ref), ref])).values())

/** Loads incidents with their outbox items and alerts, with their locks. */
export const loadIncidents = Effect.fnUntraced(function* (
  { pg, unit }: Loading,
  requests: Requests,
): Effect.fn.Return<void, SqlError.SqlError> {
  const asked = all(requests, ({ incidents }) => incidents)
  let ids = asked
  let refs = distinct(all(requests, ({ openIncidents }) => openIncidents))
  // An incident that was open when it was found may be resolved once its lock is free. Then another
  // one may be open for its key: look again.
  while (ids.length > 0 || refs.length > 0) {
    const wanted = refs.map(({ kind, incident_key }) => ({ kind, incident_key }))
    const found = (yield* pg.query(lockIncidents, [ids, JSON.stringify(wanted)])).map(incidentTable.decode)
    const foundIds = found.map((incident) => incident.id)
    const outbox = yield* ofEach(foundIds, pg.query(lockOutboxOfIncidents, [foundIds]), outboxTable.decode)
    const alerts = yield* ofEach(foundIds, pg.query(lockAlertsOfIncidents, [foundIds]), alertTable.decode)
    for (const incident of found) {
      unit.loadIncident(incident, outbox.get(incident.id) ?? [], alerts.get(incident.id) ?? [])
    }
    const resolved = new Set(found.filter(({ state }) => state === "resolved").map(nameOf))
    for (const ref of refs) {
      if (!resolved.has(nameOf(ref))) unit.openIncidents.load(ref, undefined)
    }
    refs = refs.filter((ref) => !unit.openIncidents.isLoaded(ref))
    ids = []
  }
  for (const id of asked) unit.incidents.load(id, undefined)
})

/** Runs a query over incidents, unless there are none, and sorts its rows by incident. */
const ofEach = Effect.fnUntraced(function* <Row extends { readonly incident_id: IncidentId }>(
  ids: ReadonlyArray<IncidentId>,
  query: Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>,
  decode: (row: SqlConnection.Row) => Row,
) {
  const rowsOf = new Map<IncidentId, Array<Row>>()
  for (const row of ids.length === 0 ? [] : (yield* query).map(decode)) {
    const rows = rowsOf.get(row.incident_id)
    if (rows === undefined) rowsOf.set(row.incident_id, [row])
    else rows.push(row)
  }
  return rowsOf
})

/** Loads the first members of incidents, whose locks guard them. */
export const loadWorstMembers = Effect.fnUntraced(function* (
  { pg, unit }: Loading,
  requests: Requests,
): Effect.fn.Return<void, SqlError.SqlError> {
  for (const { worstMembers } of requests) {
    if (worstMembers === undefined) continue
    const { incident_id, limit } = worstMembers
    // One row more than asked for shows whether these are all.
    const rows = yield* pg.query(findWorstMembers, [incident_id, limit + 1])
    const worst = rows.slice(0, limit).map(memberTable.decode)
    for (const member of worst) unit.members.load(member, member)
    unit.rankings.set(incident_id, { limit, floor: worst.at(-1), complete: rows.length <= limit })
  }
})

import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { IncidentRef } from "@tocsin/core/model/IncidentRecord"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import { alertTable, lockAlerts, lockAlertsOfIncidents } from "../tables/AlertTable.ts"
import { outboxTable, lockOutbox, lockOutboxOfIncidents } from "../tables/OutboxTable.ts"
import {
  incidentTable,
  lockIncidents,
  memberTable,
  findMembers,
  findMembersOfAgents,
  findWorstMembers,
} from "../tables/IncidentTable.ts"
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

/** Loads memberships, which the locks of their incidents and agents guard. */
export const loadMembers = Effect.fnUntraced(function* (
  { pg, unit }: Loading,
  requests: Requests,
): Effect.fn.Return<void, SqlError.SqlError> {
  const load = (rows: ReadonlyArray<SqlConnection.Row>) => {
    const members = rows.map(memberTable.decode)
    for (const member of members) unit.members.load(member, member)
    return members
  }
  const refs = all(requests, ({ members }) => members)
  if (refs.length > 0) {
    const wanted = refs.map(({ incident_id, agent_id, check_id }) => ({ incident_id, agent_id, check_id }))
    load(yield* pg.queryJson(findMembers, wanted))
    for (const ref of refs) unit.members.load(ref, undefined)
  }
  const agents = all(requests, ({ membersOfAgents }) => membersOfAgents)
  if (agents.length > 0) {
    load(yield* pg.query(findMembersOfAgents, [agents]))
    for (const id of agents) unit.membersOfAgents.add(id)
  }
  for (const { worstMembers } of requests) {
    if (worstMembers === undefined) continue
    const { incident_id, limit } = worstMembers
    // One row more than asked for shows whether these are all.
    const rows = yield* pg.query(findWorstMembers, [incident_id, limit + 1])
    const worst = load(rows.slice(0, limit))
    unit.rankings.set(incident_id, { limit, floor: worst.at(-1), complete: rows.length <= limit })
  }
})

/** Loads outbox items and alerts by name, with their locks, without their incidents. */
export const loadOutbox = Effect.fnUntraced(function* (
  { pg, unit }: Loading,
  requests: Requests,
): Effect.fn.Return<void, SqlError.SqlError> {
  const ids = all(requests, ({ outboxItems }) => outboxItems)
  if (ids.length > 0) {
    for (const item of (yield* pg.query(lockOutbox, [ids])).map(outboxTable.decode))
      unit.outbox.load(item.id, item)
    for (const id of ids) unit.outbox.load(id, undefined)
  }
  const refs = all(requests, ({ alerts }) => alerts)
  if (refs.length === 0) return
  const wanted = refs.map(({ receiver, incident_id, severity }) => ({ receiver, incident_id, severity }))
  for (const alert of (yield* pg.queryJson(lockAlerts, wanted)).map(alertTable.decode))
    unit.alerts.load(alert, alert)
  for (const ref of refs) unit.alerts.load(ref, undefined)
})

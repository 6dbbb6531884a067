import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { RowRequest, SearchResults, LoudMember, WithIncident } from "@tocsin/core/unitOfWork/RowRequest"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { agentTable, findAgents, findParentAgents, lockIdlePendingAgents } from "../tables/AgentTable.ts"
import {
  alertTable,
  lockClaimableAlerts,
  findHeldOutbox,
  findOutboxOfIncidents,
  findWaitingReceivers,
  outboxTable,
  lockUnclaimedOutbox,
  lockClaimableOutbox,
} from "../tables/OutboxTable.ts"
import {
  findDueIncidents,
  findIncidents,
  findLoudMembers,
  findOpenIncidents,
  findOpenings,
  findParents,
  incidentTable,
  decodeLabelled,
} from "../tables/IncidentTable.ts"
import {
  keyedTables,
  findUnendedSilences,
  findSilencesInForce,
  lockSilenceCount,
  silenceTable,
} from "../tables/keyedTables.ts"
import { readStorageTime } from "../Database.ts"
import type { Loading } from "./loadRows.ts"

/** Searches, and locks what it finds. Locked rows are passed over, so that replicas share the work. */
export const search = Effect.fnUntraced(function* (
  loading: Loading,
  request: RowRequest,
  now: Instant.Instant,
): Effect.fn.Return<void, SqlError.SqlError> {
  const { pg, unit } = loading
  const { searchResults: found } = unit
  const { unclaimedOutbox, claimableAlerts, claimableOutbox, heldOutbox, idlePendingAgents } = request
  const { dueIncidents, incidentsToRead, itemToRead, loudMembers, outboxToRead } = request
  if (claimableOutbox !== undefined) yield* searchOutbox(loading, claimableOutbox, now)
  if (heldOutbox !== undefined)
    found.heldOutbox = yield* findIds(pg, findHeldOutbox, [now, heldOutbox.limit, heldOutbox.receivers])
  if (dueIncidents !== undefined)
    found.dueIncidents = yield* findIds(pg, findDueIncidents, [now, dueIncidents.limit])
  if (incidentsToRead !== undefined) found.incidentsToRead = yield* readIncidents(pg, incidentsToRead)
  if (itemToRead !== undefined) {
    const { decode, find } = keyedTables.outbox
    const [item] = yield* pg.query(find.text, find.parameters([itemToRead]))
    found.itemToRead = item && decode(item)
  }
  if (outboxToRead !== undefined)
    found.outboxToRead = (yield* pg.query(findOutboxOfIncidents, [outboxToRead])).map(outboxTable.decode)
  if (loudMembers !== undefined) found.loudMembers = yield* searchLoudMembers(pg, loudMembers)
  const { openings, parents, silencesInForce, unendedSilences } = request
  if (parents !== undefined) found.parents = yield* searchParents(pg, parents)
  if (openings !== undefined) found.openings = yield* searchOpenings(pg, openings)
  if (silencesInForce !== undefined) {
    const { begunBy = now, endingAfter } = silencesInForce
    const rows = yield* pg.query(findSilencesInForce, [begunBy, endingAfter])
    found.silencesInForce = rows.map(silenceTable.decode)
    const { decode, find } = keyedTables.service_heartbeat
    const [heartbeat] = yield* pg.query(find.text, find.parameters(["service"]))
    found.serviceHeartbeat = heartbeat && decode(heartbeat)
  }
  if (unendedSilences !== undefined) {
    yield* pg.query(lockSilenceCount, [])
    found.unendedSilences = (yield* pg.query(findUnendedSilences, [now])).map(silenceTable.decode)
  }
  if (unclaimedOutbox !== undefined) {
    const { listed, untouchedSince, limit } = unclaimedOutbox
    const waiting = (yield* pg.query(findWaitingReceivers, [])).map((row) => row["receiver"])
    const unlisted = waiting.filter((receiver) => !listed.some((name) => name === receiver))
    const rows =
      unlisted.length === 0
        ? []
        : yield* pg.query(lockUnclaimedOutbox, [unlisted, untouchedSince, limit, now])
    found.unclaimedOutbox = rows.map(outboxTable.decode)
    for (const item of found.unclaimedOutbox) unit.outbox.load(item.id, item)
  }
  if (claimableAlerts !== undefined) yield* searchAlerts(loading, claimableAlerts, now)
  if (idlePendingAgents !== undefined) {
    const { seenBefore, limit } = idlePendingAgents
    const agents = (yield* pg.query(lockIdlePendingAgents, [seenBefore, limit])).map(agentTable.decode)
    for (const agent of agents) unit.agents.load(agent.agent_id, agent)
    found.idlePendingAgents = agents.map((agent) => agent.agent_id)
  }
})

const findIds = (pg: Loading["pg"], statement: string, parameters: ReadonlyArray<unknown>) =>
  // The column of these statements.
  Effect.map(pg.query(statement, parameters), (rows) => rows.map((row) => row["id"] as IncidentId))

const searchOutbox = Effect.fnUntraced(function* (
  { pg, unit }: Loading,
  { receivers, limit }: NonNullable<RowRequest["claimableOutbox"]>,
  now: Instant.Instant,
) {
  const { searchResults: found } = unit
  const rows = yield* pg.query(lockClaimableOutbox, [receivers, now, limit])
  const items = rows.filter((row) => row["id"] !== null).map(outboxTable.decode)
  // One row or more, each with the same bigint, always.
  found.storageTime = Instant.fromMicros(rows[0]?.["storage_time"] as bigint)
  found.claimableOutbox = yield* withIncidents(
    pg,
    items.filter(({ state }) => state !== "sending"),
  )
  found.expiredOutbox = items.filter(({ state }) => state === "sending")
  for (const item of items) unit.outbox.load(item.id, item)
})

const searchAlerts = Effect.fnUntraced(function* (
  { pg, unit }: Loading,
  { limit, receiver }: NonNullable<RowRequest["claimableAlerts"]>,
  now: Instant.Instant,
) {
  const storageTime = yield* readStorageTime(pg)
  const rows = yield* pg.query(lockClaimableAlerts, [now, storageTime, limit, receiver])
  const alerts = rows.map(alertTable.decode)
  unit.searchResults.storageTime = storageTime
  unit.searchResults.claimableAlerts = yield* withIncidents(pg, alerts)
  for (const alert of alerts) unit.alerts.load(alert, alert)
})

const searchLoudMembers = Effect.fnUntraced(function* (
  pg: Loading["pg"],
  asked: NonNullable<RowRequest["loudMembers"]>,
): Effect.fn.Return<SearchResults["loudMembers"], SqlError.SqlError> {
  const members = (yield* pg.queryJson(findLoudMembers, asked)).map(decodeLabelled)
  const names = Array.from(new Set(members.map(({ member }) => member.agent_id)))
  const agents = (yield* pg.query(findAgents, [names])).map(agentTable.decode)
  const agentOf = new Map(agents.map((agent) => [agent.agent_id, agent]))
  const found = new Map<IncidentId, Array<LoudMember>>()
  for (const { labels, member } of members) {
    const loud = { member, agent: agentOf.get(member.agent_id), labels }
    const others = found.get(member.incident_id)
    if (others === undefined) found.set(member.incident_id, [loud])
    else others.push(loud)
  }
  return found
})

const searchParents = Effect.fnUntraced(function* (
  pg: Loading["pg"],
  asked: NonNullable<RowRequest["parents"]>,
): Effect.fn.Return<SearchResults["parents"], SqlError.SqlError> {
  const { agents, checks, hostnames, isAll, keys, labelled, limit, staleSince } = asked
  const incidents = isAll
    ? yield* pg.query(findOpenIncidents, [limit])
    : yield* pg.query(findParents, [agents, checks, keys, hostnames, JSON.stringify(labelled), limit])
  const known =
    staleSince === undefined
      ? yield* pg.query(findAgents, [agents])
      : yield* pg.query(findParentAgents, [staleSince, agents, limit])
  return { incidents: incidents.map(incidentTable.decode), agents: known.map(agentTable.decode) }
})

const searchOpenings = Effect.fnUntraced(function* (
  pg: Loading["pg"],
  asked: NonNullable<RowRequest["openings"]>,
): Effect.fn.Return<SearchResults["openings"], SqlError.SqlError> {
  const wanted = asked.map(({ incident: { id, incident_key, kind }, limit, since, until }) => ({
    id,
    incident_key,
    kind,
    limit,
    since: String(since),
    until: String(until),
  }))
  const found = new Map<IncidentId, Array<Instant.Instant>>(wanted.map(({ id }) => [id, []]))
  for (const row of yield* pg.queryJson(findOpenings, wanted)) {
    // The columns of the statement.
    found.get(row["id"] as IncidentId)?.push(row["opened_at"] as Instant.Instant)
  }
  return found
})

/** The rows, each with its incident as it stands. */
const withIncidents = Effect.fnUntraced(function* <Row extends { readonly incident_id: IncidentId }>(
  pg: Loading["pg"],
  rows: ReadonlyArray<Row>,
): Effect.fn.Return<ReadonlyArray<WithIncident<Row>>, SqlError.SqlError> {
  if (rows.length === 0) return []
  const incidents = yield* readIncidents(
    pg,
    rows.map((row) => row.incident_id),
  )
  return rows.flatMap((row) => {
    const incident = incidents.get(row.incident_id)
    return incident === undefined ? [] : [{ row, incident }]
  })
})

const readIncidents = Effect.fnUntraced(function* (pg: Loading["pg"], ids: ReadonlyArray<IncidentId>) {
  const found = (yield* pg.query(findIncidents, [ids])).map(incidentTable.decode)
  return new Map(found.map((incident) => [incident.id, incident]))
})

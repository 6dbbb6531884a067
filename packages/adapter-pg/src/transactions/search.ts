import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { LAST_VERSION } from "@tocsin/core/model/PolicyVersionRecord"
import type { Step } from "@tocsin/core/unitOfWork/Decision"
import {
  type Asked,
  type Found,
  type LoudMember,
  Search,
  type SearchName,
  type WithIncident,
} from "@tocsin/core/unitOfWork/Search"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import {
  agentTable,
  findAgents,
  findParentAgents,
  keyTable,
  lockBlockedKeys,
  lockIdlePendingAgents,
} from "../tables/AgentTable.ts"
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
  countUnended,
  keyedTables,
  findPolicyVersions,
  findOverridesEndingAfter,
  findUnendedSilences,
  findSilencesInForce,
  lockGroup,
  lockSilenceCount,
  policyVersionTable,
  rotaOverrideTable,
  silenceTable,
} from "../tables/keyedTables.ts"
import { readStorageTime } from "../Database.ts"
import { type Loading, loadRows } from "./loadRows.ts"

type Searching<A> = Effect.Effect<A, SqlError.SqlError>

const searches: {
  readonly [N in SearchName]: (loading: Loading, asked: Asked<N>, now: Instant.Instant) => Searching<Found<N>>
} = {
  claimableOutbox: (loading, asked, now) => searchOutbox(loading, asked, now),
  heldOutbox: ({ pg }, { limit, receivers }, now) => findIds(pg, findHeldOutbox, [now, limit, receivers]),
  dueIncidents: ({ pg }, { limit }, now) => findIds(pg, findDueIncidents, [now, limit]),
  incidentsToRead: ({ pg }, ids) => readIncidents(pg, ids),
  itemToRead: Effect.fnUntraced(function* ({ pg }, id) {
    const { decode, find } = keyedTables.outbox
    const [item] = yield* pg.query(find.text, find.parameters([id]))
    return item && decode(item)
  }),
  outboxToRead: ({ pg }, ids) =>
    Effect.map(pg.query(findOutboxOfIncidents, [ids]), (rows) => rows.map(outboxTable.decode)),
  loudMembers: ({ pg }, asked) => searchLoudMembers(pg, asked),
  parents: ({ pg }, asked) => searchParents(pg, asked),
  openings: ({ pg }, asked) => searchOpenings(pg, asked),
  silencesInForce: Effect.fnUntraced(function* ({ pg }, { begunBy, endingAfter }, now) {
    const rows = yield* pg.query(findSilencesInForce, [begunBy ?? now, endingAfter])
    const { decode, find } = keyedTables.service_heartbeat
    const [heartbeat] = yield* pg.query(find.text, find.parameters(["service"]))
    return { silences: rows.map(silenceTable.decode), serviceHeartbeat: heartbeat && decode(heartbeat) }
  }),
  silencesEndingAfter: (loading, moment) => silencesEndingAfter(loading, moment),
  unendedSilences: Effect.fnUntraced(function* (loading, _asked, now) {
    yield* loading.pg.query(lockSilenceCount, [])
    return yield* silencesEndingAfter(loading, now)
  }),
  overridesEndingAfter: ({ pg }, moment) =>
    Effect.map(pg.query(findOverridesEndingAfter, [moment]), (rows) => rows.map(rotaOverrideTable.decode)),
  unended: Effect.fnUntraced(function* ({ pg }, table, now) {
    yield* pg.query(lockGroup, [table])
    const [found] = yield* pg.query(countUnended(table), [now])
    return Number(found?.["count"])
  }),
  newestPolicy: Effect.fnUntraced(function* ({ pg }) {
    yield* pg.query(lockGroup, ["policy_version"])
    const [newest] = yield* pg.query(findPolicyVersions, [0, LAST_VERSION, 1])
    return newest && policyVersionTable.decode(newest)
  }),
  unclaimedOutbox: Effect.fnUntraced(function* ({ pg, unit }, { limit, listed, untouchedSince }, now) {
    const waiting = (yield* pg.query(findWaitingReceivers, [])).map((row) => row["receiver"])
    const unlisted = waiting.filter((receiver) => !listed.some((name) => name === receiver))
    if (unlisted.length === 0) return []
    const rows = yield* pg.query(lockUnclaimedOutbox, [unlisted, untouchedSince, limit, now])
    const items = rows.map(outboxTable.decode)
    for (const item of items) unit.outbox.load(item.id, item)
    return items
  }),
  claimableAlerts: (loading, asked, now) => searchAlerts(loading, asked, now),
  blockedKeys: Effect.fnUntraced(function* ({ pg, unit }, ids) {
    const keys = (yield* pg.query(lockBlockedKeys, [ids])).map(keyTable.decode)
    for (const key of keys) unit.keys.load(key.key_hash, key)
    return keys
  }),
  idlePendingAgents: Effect.fnUntraced(function* ({ pg, unit }, { limit, seenBefore }) {
    const agents = (yield* pg.query(lockIdlePendingAgents, [seenBefore, limit])).map(agentTable.decode)
    for (const agent of agents) unit.agents.load(agent.agent_id, agent)
    return agents.map((agent) => agent.agent_id)
  }),
}

/** Searches. What it locks passes over locked rows, so that replicas share the work. */
const search = <N extends SearchName>(
  loading: Loading,
  { asked, name }: Search<N>,
  now: Instant.Instant,
): Searching<Found<N>> => searches[name](loading, asked, now)

/** Answers a step of a decision: loads the rows of a request, or returns what a search finds. */
export const answerStep = (loading: Loading, step: Step, now: Instant.Instant): Searching<unknown> =>
  step instanceof Search ? search(loading, step, now) : loadRows(loading, [step])

const silencesEndingAfter = ({ pg }: Loading, moment: Instant.Instant) =>
  Effect.map(pg.query(findUnendedSilences, [moment]), (rows) => rows.map(silenceTable.decode))

const findIds = (pg: Loading["pg"], statement: string, parameters: ReadonlyArray<unknown>) =>
  // The column of these statements.
  Effect.map(pg.query(statement, parameters), (rows) => rows.map((row) => row["id"] as IncidentId))

const searchOutbox = Effect.fnUntraced(function* (
  { pg, unit }: Loading,
  { receivers, limit }: Asked<"claimableOutbox">,
  now: Instant.Instant,
) {
  const rows = yield* pg.query(lockClaimableOutbox, [receivers, now, limit])
  const items = rows.filter((row) => row["id"] !== null).map(outboxTable.decode)
  const due = yield* withIncidents(
    pg,
    items.filter(({ state }) => state !== "sending"),
  )
  for (const item of items) unit.outbox.load(item.id, item)
  // One row or more, each with the same bigint, always.
  const storageTime = Instant.fromMicros(rows[0]?.["storage_time"] as bigint)
  return { due, expired: items.filter(({ state }) => state === "sending"), storageTime }
})

const searchAlerts = Effect.fnUntraced(function* (
  { pg, unit }: Loading,
  { limit, receiver }: Asked<"claimableAlerts">,
  now: Instant.Instant,
) {
  const storageTime = yield* readStorageTime(pg)
  const rows = yield* pg.query(lockClaimableAlerts, [now, storageTime, limit, receiver])
  const alerts = rows.map(alertTable.decode)
  for (const alert of alerts) unit.alerts.load(alert, alert)
  return { due: yield* withIncidents(pg, alerts), storageTime }
})

const searchLoudMembers = Effect.fnUntraced(function* (
  pg: Loading["pg"],
  asked: Asked<"loudMembers">,
): Effect.fn.Return<Found<"loudMembers">, SqlError.SqlError> {
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
  asked: Asked<"parents">,
): Effect.fn.Return<Found<"parents">, SqlError.SqlError> {
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
  asked: Asked<"openings">,
): Effect.fn.Return<Found<"openings">, SqlError.SqlError> {
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

import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { KeyedName, Keys } from "@tocsin/core/lists/StoredTables"
import { LAST_VERSION } from "@tocsin/core/heart/model/PolicyVersionRecord"
import type { Step } from "@tocsin/core/kernel/unitOfWork/Decision"
import {
  type Asked,
  type Found,
  type LoudMember,
  Search,
  type SearchName,
  type WithIncident,
} from "@tocsin/core/kernel/unitOfWork/Search"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import * as agents from "../tables/AgentTable.ts"
import * as incidents from "../tables/IncidentTable.ts"
import * as keyed from "../tables/keyedTables.ts"
import { rowsOf } from "../tables/makeTable.ts"
import * as outbox from "../tables/OutboxTable.ts"
import { readStorageTime } from "../Database.ts"
import { type Loading, loadRows } from "./loadRows.ts"

type Searching<A> = Effect.Effect<A, SqlError.SqlError>

const searches: {
  readonly [N in SearchName]: (loading: Loading, asked: Asked<N>, now: Instant.Instant) => Searching<Found<N>>
} = {
  claimableOutbox: (loading, asked, now) => searchOutbox(loading, asked, now),
  heldOutbox: ({ pg }, { limit, receivers }, now) =>
    findIds(pg, outbox.findHeldOutbox, [now, limit, receivers]),
  dueIncidents: ({ pg }, { limit }, now) => findIds(pg, incidents.findDueIncidents, [now, limit]),
  incidentsToRead: ({ pg }, ids) => readIncidents(pg, ids),
  itemToRead: ({ pg }, id) => findRow(pg, "outbox", id),
  outboxToRead: ({ pg }, ids) => rowsOf(pg, outbox.findOutboxOfIncidents, [ids]),
  loudMembers: ({ pg }, asked) => searchLoudMembers(pg, asked),
  parents: ({ pg }, asked) => searchParents(pg, asked),
  openings: ({ pg }, asked) => searchOpenings(pg, asked),
  silencesInForce: Effect.fnUntraced(function* ({ pg }, { begunBy, endingAfter }, now) {
    const silences = yield* rowsOf(pg, keyed.findSilencesInForce, [begunBy ?? now, endingAfter])
    return { silences, serviceHeartbeat: yield* findRow(pg, "service_heartbeat", "service") }
  }),
  silencesEndingAfter: ({ pg }, moment) => rowsOf(pg, keyed.findUnendedSilences, [moment]),
  unendedSilences: ({ pg }, _asked, now) =>
    Effect.andThen(pg.query(keyed.lockSilenceCount, []), rowsOf(pg, keyed.findUnendedSilences, [now])),
  overridesEndingAfter: ({ pg }, moment) => rowsOf(pg, keyed.findOverridesEndingAfter, [moment]),
  unended: Effect.fnUntraced(function* ({ pg }, table, now) {
    yield* pg.query(keyed.lockGroup, [table])
    const [found] = yield* pg.query(keyed.countUnended(table), [now])
    return Number(found?.["count"])
  }),
  newestPolicy: Effect.fnUntraced(function* ({ pg }) {
    yield* pg.query(keyed.lockGroup, ["policy_version"])
    const [newest] = yield* rowsOf(pg, keyed.findPolicyVersions, [0, LAST_VERSION, 1])
    return newest
  }),
  unclaimedOutbox: Effect.fnUntraced(function* ({ pg, unit }, { limit, listed, untouchedSince }, now) {
    const waiting = (yield* pg.query(outbox.findWaitingReceivers, [])).map((row) => row["receiver"])
    const unlisted = waiting.filter((receiver) => !listed.some((name) => name === receiver))
    if (unlisted.length === 0) return []
    const items = yield* rowsOf(pg, outbox.lockUnclaimedOutbox, [unlisted, untouchedSince, limit, now])
    for (const item of items) unit.outbox.load(item.id, item)
    return items
  }),
  claimableAlerts: (loading, asked, now) => searchAlerts(loading, asked, now),
  blockedKeys: Effect.fnUntraced(function* ({ pg, unit }, ids) {
    const keys = yield* rowsOf(pg, agents.lockBlockedKeys, [ids])
    for (const key of keys) unit.keys.load(key.key_hash, key)
    return keys
  }),
  idlePendingAgents: Effect.fnUntraced(function* ({ pg, unit }, { limit, seenBefore }) {
    const idle = yield* rowsOf(pg, agents.lockIdlePendingAgents, [seenBefore, limit])
    for (const agent of idle) unit.agents.load(agent.agent_id, agent)
    return idle.map((agent) => agent.agent_id)
  }),
}

/** Searches. What it locks passes over locked rows, so that replicas share the work. */
const search = <N extends SearchName>(
  loading: Loading,
  { asked, name }: Search<N>,
  now: Instant.Instant,
): Searching<Found<N>> => searches[name](loading, asked, now)

export const answerStep = (loading: Loading, step: Step, now: Instant.Instant): Searching<unknown> =>
  step instanceof Search ? search(loading, step, now) : loadRows(loading, [step])

const findRow = <N extends KeyedName>(pg: Loading["pg"], name: N, key: Keys[N]) => {
  const { find } = keyed.keyedTables[name]
  return Effect.map(rowsOf(pg, find, find.parameters([key])), ([row]) => row)
}

const findIds = (pg: Loading["pg"], statement: string, parameters: ReadonlyArray<unknown>) =>
  // The column of these statements.
  Effect.map(pg.query(statement, parameters), (rows) => rows.map((row) => row["id"] as IncidentId))

const searchOutbox = Effect.fnUntraced(function* (
  { pg, unit }: Loading,
  { receivers, limit }: Asked<"claimableOutbox">,
  now: Instant.Instant,
) {
  const rows = yield* pg.query(outbox.lockClaimableOutbox, [receivers, now, limit])
  const items = rows.filter((row) => row["id"] !== null).map(outbox.outboxTable.decode)
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
  const alerts = yield* rowsOf(pg, outbox.lockClaimableAlerts, [now, storageTime, limit, receiver])
  for (const alert of alerts) unit.alerts.load(alert, alert)
  return { due: yield* withIncidents(pg, alerts), storageTime }
})

const searchLoudMembers = Effect.fnUntraced(function* (pg: Loading["pg"], asked: Asked<"loudMembers">) {
  const members = yield* rowsOf(pg, incidents.findLoudMembers, [JSON.stringify(asked)])
  const names = Array.from(new Set(members.map(({ member }) => member.agent_id)))
  const known = yield* rowsOf(pg, agents.findAgents, [names])
  const agentOf = new Map(known.map((agent) => [agent.agent_id, agent]))
  const found = new Map<IncidentId, Array<LoudMember>>()
  for (const { labels, member } of members) {
    const loud = { member, agent: agentOf.get(member.agent_id), labels }
    const others = found.get(member.incident_id)
    if (others === undefined) found.set(member.incident_id, [loud])
    else others.push(loud)
  }
  return found
})

const searchParents = Effect.fnUntraced(function* (pg: Loading["pg"], asked: Asked<"parents">) {
  const { agents: named, checks, hostnames, isAll, keys, labelled, limit, staleSince } = asked
  return {
    incidents: isAll
      ? yield* rowsOf(pg, incidents.findOpenIncidents, [limit])
      : yield* rowsOf(pg, incidents.findParents, [
          named,
          checks,
          keys,
          hostnames,
          JSON.stringify(labelled),
          limit,
        ]),
    agents:
      staleSince === undefined
        ? yield* rowsOf(pg, agents.findAgents, [named])
        : yield* rowsOf(pg, agents.findParentAgents, [staleSince, named, limit]),
  }
})

const searchOpenings = Effect.fnUntraced(function* (pg: Loading["pg"], asked: Asked<"openings">) {
  const wanted = asked.map(({ incident: { id, incident_key, kind }, limit, since, until }) => ({
    id,
    incident_key,
    kind,
    limit,
    since: String(since),
    until: String(until),
  }))
  const found = new Map<IncidentId, Array<Instant.Instant>>(wanted.map(({ id }) => [id, []]))
  for (const row of yield* pg.queryJson(incidents.findOpenings, wanted)) {
    // The columns of the statement.
    found.get(row["id"] as IncidentId)?.push(row["opened_at"] as Instant.Instant)
  }
  return found
})

const withIncidents = Effect.fnUntraced(function* <Row extends { readonly incident_id: IncidentId }>(
  pg: Loading["pg"],
  rows: ReadonlyArray<Row>,
): Effect.fn.Return<ReadonlyArray<WithIncident<Row>>, SqlError.SqlError> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.incident_id)
  const incidentOf = yield* readIncidents(pg, ids)
  return rows.flatMap((row) => {
    const incident = incidentOf.get(row.incident_id)
    return incident === undefined ? [] : [{ row, incident }]
  })
})

const readIncidents = (pg: Loading["pg"], ids: ReadonlyArray<IncidentId>) =>
  Effect.map(
    rowsOf(pg, incidents.findIncidents, [ids]),
    (found) => new Map(found.map((incident) => [incident.id, incident])),
  )

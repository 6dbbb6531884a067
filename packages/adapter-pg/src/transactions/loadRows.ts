import type { AgentId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { openUnit } from "@tocsin/core/lists/openUnit"
import type { AgentRecord, AgentKeyRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { IncidentRef } from "@tocsin/core/heart/model/IncidentRecord"
import {
  type Groups,
  groupText,
  type KeyedName,
  keyedNames,
  type KeyedRows,
  keyOf,
  type Keys,
} from "@tocsin/core/lists/StoredTables"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { sqlError } from "../client/toSqlError.ts"
import * as agents from "../tables/AgentTable.ts"
import { decodeKnown, findChecks, findKnownEvents } from "../tables/CheckTable.ts"
import { findWorstMembers, lockIncidents } from "../tables/IncidentTable.ts"
import { type Finding, keyedTables, lockGroup } from "../tables/keyedTables.ts"
import { type Reading, rowsOf } from "../tables/makeTable.ts"
import { lockAlertsOfIncidents, lockOutboxOfIncidents } from "../tables/OutboxTable.ts"

/** `xmin` of a stored row: the low 32 bits of the id of the transaction that wrote it. */
export type RowVersion = number

interface RowVersions {
  /** By row. Rows are immutable, so a row of the unit of work that is found here is unchanged. */
  readonly rows: Map<AgentRecord | CheckRecord, RowVersion>
  /** Of agents as the transaction found them. */
  readonly agents: Map<AgentId, RowVersion>
}

export interface Loading {
  readonly pg: PgClient["Service"]
  readonly unit: UnitOfWork
  readonly versions: RowVersions
}

/** Requests that load together: one request of a command, or one of each command of a group. */
type Requests = ReadonlyArray<RowRequest>

const all = <Id>(
  requests: Requests,
  part: (request: RowRequest) => ReadonlyArray<Id> | undefined,
): ReadonlyArray<Id> => requests.flatMap((request) => part(request) ?? [])

export const beginLoading = (pg: PgClient["Service"]): Loading => ({
  pg,
  unit: openUnit(),
  versions: { rows: new Map(), agents: new Map() },
})

const nameOf = ({ kind, incident_key }: IncidentRef): string => `${kind}/${incident_key}`

const distinct = (refs: ReadonlyArray<IncidentRef>): ReadonlyArray<IncidentRef> =>
  Array.from(new Map(refs.map((ref) => [nameOf(ref), ref])).values())

/** Loads incidents with their outbox items and alerts, with their locks. */
const loadIncidents = Effect.fnUntraced(function* ({ pg, unit }: Loading, requests: Requests) {
  const asked = all(requests, ({ incidents }) => incidents)
  let ids = asked
  let refs = distinct(all(requests, ({ openIncidents }) => openIncidents))
  // An incident that was open when it was found may be resolved once its lock is free. Then another
  // one may be open for its key: look again.
  while (ids.length > 0 || refs.length > 0) {
    const wanted = refs.map(({ kind, incident_key }) => ({ kind, incident_key }))
    const found = yield* rowsOf(pg, lockIncidents, [ids, JSON.stringify(wanted)])
    const foundIds = found.map((incident) => incident.id)
    const outbox = yield* ofEach(pg, foundIds, lockOutboxOfIncidents)
    const alerts = yield* ofEach(pg, foundIds, lockAlertsOfIncidents)
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

/** Reads rows of incidents, unless there are none, and sorts them by incident. */
const ofEach = Effect.fnUntraced(function* <Row extends { readonly incident_id: IncidentId }>(
  pg: Loading["pg"],
  ids: ReadonlyArray<IncidentId>,
  reading: Reading<Row>,
) {
  const rows = ids.length === 0 ? [] : yield* rowsOf(pg, reading, [ids])
  return Map.groupBy(rows, ({ incident_id }) => incident_id)
})

const loadWorstMembers = Effect.fnUntraced(function* ({ pg, unit }: Loading, requests: Requests) {
  for (const { worstMembers } of requests) {
    if (worstMembers === undefined) continue
    const { incident_id, limit } = worstMembers
    // One row more than asked for shows whether these are all.
    const rows = yield* rowsOf(pg, findWorstMembers, [incident_id, limit + 1])
    const worst = rows.slice(0, limit)
    for (const member of worst) unit.members.load(member, member)
    unit.rankings.set(incident_id, { limit, floor: worst.at(-1), complete: rows.length <= limit })
  }
})

/**
 * Loads the rows of requests into a unit of work, in a transaction at READ COMMITTED. It takes locks
 * in one order, and reads what a lock guards in a later statement than the one that waited for it,
 * which sees what the previous holder left. Several requests at once read each table once. Searches
 * are left to `search`.
 */
export const loadRows = Effect.fnUntraced(function* (loading: Loading, requests: Requests) {
  yield* loadAgents(loading, requests)
  const asked = askedTables(requests)
  if (asked.has("agent_key")) yield* loadKeyed(loading, requests, "agent_key")
  yield* loadChecks(loading, requests)
  yield* loadHistory(loading, requests)
  yield* loadIncidents(loading, requests)
  yield* loadWorstMembers(loading, requests)
  if (asked.size > 0)
    for (const name of keyedNames)
      if (asked.has(name) && name !== "agent_key") yield* loadKeyed(loading, requests, name)
  if (requests.some(({ pendingAgents }) => pendingAgents)) yield* loadPendingAgents(loading)
})

/** Loads agents, with their locks. Those that a request passes over when held stay unloaded. */
const loadAgents = Effect.fnUntraced(function* (loading: Loading, requests: Requests) {
  const ids = all(requests, (request) => request.agents)
  if (ids.length === 0) return
  const { pg, versions, unit } = loading
  const skipLocked = requests.some((request) => request.skipLocked)
  for (const row of yield* pg.query(skipLocked ? agents.lockFreeAgents : agents.lockAgents, [ids])) {
    const agent = versioned(row, agents.agentTable.decode, versions)
    versions.agents.set(agent.agent_id, Number(row["version"]))
    unit.agents.load(agent.agent_id, agent)
  }
  const missed = ids.filter((id) => !unit.agents.isLoaded(id))
  if (missed.length === 0) return
  // One that was not found is absent only if it is not there without a lock either.
  const held = new Set(
    skipLocked ? (yield* pg.query(agents.findAgentIds, [missed])).map((row) => row["agent_id"]) : [],
  )
  for (const id of missed) if (!held.has(id)) unit.agents.load(id, undefined)
})

const versioned = <Row extends AgentRecord | CheckRecord>(
  found: SqlConnection.Row,
  decode: (row: SqlConnection.Row) => Row,
  { rows }: RowVersions,
): Row => {
  const row = decode(found)
  rows.set(row, Number(found["version"]))
  return row
}

/**
 * An absent agent has no lock, so its first heartbeat may be decided twice at the same time. The
 * second one finds no agent, and then, in a later statement, the key that the first one registered.
 * It starts over.
 */
const isOrphan = (unit: UnitOfWork, { agent_id, key_hash, state }: AgentKeyRecord): boolean =>
  state !== "blocked" &&
  unit.agents.isLoaded(agent_id) &&
  unit.agents.get(agent_id) === undefined &&
  !unit.keys.isLoaded(key_hash)

/** Named rows of the present registrations. Absent agents have nothing; locked ones are left out. */
const ofRegistrations = <Id extends string>(
  { unit }: Loading,
  asked: ReadonlyArray<{ readonly agent_id: AgentId; readonly ids: ReadonlyArray<Id> }>,
) => {
  const wanted = new Map<AgentId, Set<Id>>()
  for (const { agent_id, ids } of asked) {
    const known = wanted.get(agent_id)
    if (known === undefined) wanted.set(agent_id, new Set(ids))
    else for (const id of ids) known.add(id)
  }
  return Array.from(wanted).flatMap(([agent_id, ids]) => {
    const agent = unit.agents.isLoaded(agent_id) ? unit.agents.get(agent_id) : undefined
    return agent === undefined || ids.size === 0
      ? []
      : { agent_id, registration_id: agent.registration_id, ids: Array.from(ids) }
  })
}

const loadChecks = Effect.fnUntraced(function* (loading: Loading, requests: Requests) {
  const asked = requests.flatMap(({ checks }) =>
    checks === undefined ? [] : { agent_id: checks.agent_id, ids: checks.check_ids },
  )
  const wanted = ofRegistrations(loading, asked)
  if (wanted.length === 0) return
  const { pg, versions, unit } = loading
  for (const row of yield* pg.queryJson(findChecks.text, wanted)) {
    const check = versioned(row, findChecks.decode, versions)
    unit.checks.load(check, check)
  }
  for (const { ids, ...registration } of wanted) {
    for (const check_id of ids) unit.checks.load({ ...registration, check_id }, undefined)
  }
})

const loadHistory = Effect.fnUntraced(function* (loading: Loading, requests: Requests) {
  const asked = requests.flatMap(({ history }) =>
    history === undefined ? [] : { agent_id: history.agent_id, ids: history.event_ids },
  )
  const wanted = ofRegistrations(loading, asked)
  if (wanted.length === 0) return
  const rows = yield* loading.pg.queryJson(findKnownEvents, wanted)
  for (const { ids, registration_id } of wanted) {
    const known = new Map(rows.filter((row) => row["registration_id"] === registration_id).map(decodeKnown))
    loading.unit.knownEvents.load(registration_id, ids, known)
  }
})

/** Loads rows of a table, with the locks that it declares: those named, then those of groups. */
const loadKeyed = Effect.fnUntraced(function* <N extends KeyedName>(
  { pg, unit }: Loading,
  requests: Requests,
  name: N,
): Effect.fn.Return<void, SqlError.SqlError> {
  const table = keyedTables[name]
  const found = Effect.fnUntraced(function* (names: ReadonlyArray<unknown>, finding: Finding<KeyedRows[N]>) {
    const rows = yield* rowsOf(pg, finding, finding.parameters(names))
    if (name === "agent_key" && rows.some((row) => isOrphan(unit, row as AgentKeyRecord)))
      return yield* sqlError("SerializationError", {
        message: "The agent was registered meanwhile",
        operation: "execute",
      })
    return rows
  })
  const keys = all<Keys[N]>(requests, ({ rows }) => rows?.[name])
  if (keys.length > 0) {
    const rows = unit.of(name)
    for (const row of yield* found(keys, table.lock)) rows.load(keyOf(name, row), row)
    for (const key of keys) rows.load(key, undefined)
  }
  const groups = all<Groups[N]>(requests, ({ groups: asked }) => asked?.[name])
  if (groups.length === 0) return
  if (table.locks === "groups")
    for (const group of Array.from(new Set(groups.map((one) => groupText(name, one)))).toSorted())
      yield* pg.query(lockGroup, [`${name}/${group}`])
  unit.keyed.loadGroups(name, groups, yield* found(groups, table.lockGroups))
})

const askedTables = (requests: Requests): ReadonlySet<string> =>
  new Set(requests.flatMap(({ groups, rows }) => [...Object.keys(groups ?? {}), ...Object.keys(rows ?? {})]))

const loadPendingAgents = Effect.fnUntraced(function* ({ pg, unit }: Loading) {
  yield* pg.query(agents.lockRegistrations, [])
  const rows = yield* pg.query(agents.countPendingAgents, [])
  unit.loadPendingAgents(Number(rows[0]?.["pending"]))
})

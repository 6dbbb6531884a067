import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/model/CheckRecord"
import type { AgentId } from "@tocsin/contract/Identifiers"
import {
  type Groups,
  groupText,
  type KeyedName,
  keyedNames,
  keyOf,
  type Keys,
} from "@tocsin/core/model/StoredTables"
import type { UnitOfWork } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import { sqlError } from "../client/toSqlError.ts"
import {
  keyTable,
  lockBlacklist,
  countPendingAgents,
  agentTable,
  findAgentIds,
  lockAgents,
  lockFreeAgents,
  lockRegistrations,
} from "../tables/AgentTable.ts"
import { checkTable, findChecks, decodeKnown, findKnownEvents } from "../tables/CheckTable.ts"
import { type Finding, keyedTables, lockGroup } from "../tables/keyedTables.ts"
import { loadIncidents, loadWorstMembers } from "./loadIncidents.ts"
import { all, type Loading, type Requests, type RowVersions } from "./Loading.ts"

/**
 * Loads the rows of requests into a unit of work, in a transaction at READ COMMITTED. It takes locks
 * in one order, and reads what a lock guards in a later statement than the one that waited for it,
 * which sees what the previous holder left. Several requests at once read each table once. Searches
 * are left to `search`.
 */
export const loadRows = Effect.fnUntraced(function* (
  loading: Loading,
  requests: Requests,
): Effect.fn.Return<void, SqlError.SqlError> {
  yield* loadAgents(loading, requests)
  const asked = askedTables(requests)
  if (asked.has("agent_key")) yield* loadKeyed(loading, requests, "agent_key")
  yield* loadBlacklist(loading, requests)
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
  const ids = all(requests, ({ agents }) => agents)
  if (ids.length === 0) return
  const { pg, versions, unit } = loading
  const skipLocked = requests.some((request) => request.skipLocked)
  for (const row of yield* pg.query(skipLocked ? lockFreeAgents : lockAgents, [ids])) {
    const agent = versioned(row, agentTable.decode, versions)
    versions.agents.set(agent.agent_id, Number(row["version"]))
    unit.agents.load(agent.agent_id, agent)
  }
  const missed = ids.filter((id) => !unit.agents.isLoaded(id))
  if (missed.length === 0) return
  // One that was not found is absent only if it is not there without a lock either.
  const held = new Set(
    skipLocked ? (yield* pg.query(findAgentIds, [missed])).map((row) => row["agent_id"]) : [],
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

const loadBlacklist = Effect.fnUntraced(function* ({ pg, unit }: Loading, requests: Requests) {
  const blocked = all(requests, ({ blacklist }) => blacklist)
  if (blocked.length === 0) return
  for (const key of (yield* pg.query(lockBlacklist, [blocked])).map(keyTable.decode)) {
    if (key.state === "blocked")
      unit.blacklist.load(key.blacklist_id, { id: key.blacklist_id, key_hash: key.key_hash })
    unit.keys.load(key.key_hash, key)
  }
  for (const id of blocked) unit.blacklist.load(id, undefined)
})

/**
 * An absent agent has no lock, so its first heartbeat may be decided twice at the same time. The
 * second one finds no agent, and then, in a later statement, the key that the first one registered.
 * It starts over.
 */
const isOrphan = ({ agents, keys }: UnitOfWork, { agent_id, key_hash, state }: AgentKeyRecord): boolean =>
  state !== "blocked" &&
  agents.isLoaded(agent_id) &&
  agents.get(agent_id) === undefined &&
  !keys.isLoaded(key_hash)

/**
 * The rows that requests name, of the present registrations of agents. Absent agents have nothing,
 * and held ones are left out.
 */
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
  for (const row of yield* pg.queryJson(findChecks, wanted)) {
    const check = versioned(row, checkTable.decode, versions)
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
  const found = Effect.fnUntraced(function* (names: ReadonlyArray<unknown>, { text, parameters }: Finding) {
    const rows = (yield* pg.query(text, parameters(names))).map(table.decode)
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

/** The tables of which requests name rows or groups. */
const askedTables = (requests: Requests): ReadonlySet<string> =>
  new Set(requests.flatMap(({ groups, rows }) => [...Object.keys(groups ?? {}), ...Object.keys(rows ?? {})]))

const loadPendingAgents = Effect.fnUntraced(function* ({ pg, unit }: Loading) {
  yield* pg.query(lockRegistrations, [])
  const rows = yield* pg.query(countPendingAgents, [])
  unit.loadPendingAgents(Number(rows[0]?.["pending"]))
})

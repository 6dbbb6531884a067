import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/model/CheckRecord"
import type { AgentId } from "@tocsin/contract/Identifiers"
import type { UnitOfWork } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import { sqlError } from "../client/toSqlError.ts"
import { decodeKey, lockBlacklist, lockKeys, lockKeysOfAgents } from "../tables/AgentKeyTable.ts"
import {
  countPendingAgents,
  agentTable,
  findAgentIds,
  lockAgents,
  lockFreeAgents,
  lockRegistrations,
} from "../tables/AgentTable.ts"
import { checkTable, findChecks } from "../tables/CheckTable.ts"
import { expectationTable, findExpectations, findExpectationsOfAgents } from "../tables/ExpectationTable.ts"
import { decodeKnown, findKnownEvents } from "../tables/HistoryTable.ts"
import { serviceHeartbeatTable, lockServiceHeartbeat } from "../tables/ServiceHeartbeatTable.ts"
import { lockOperators, operatorTable } from "../tables/OperatorTable.ts"
import { lockSilences, silenceTable } from "../tables/SilenceTable.ts"
import { lockReplicas, lockReports, replicaTable } from "../tables/ReplicaTable.ts"
import { loadIncidents, loadMembers, loadOutbox } from "./loadIncidents.ts"
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
  yield* loadKeys(loading, requests)
  yield* loadChecks(loading, requests)
  yield* loadExpectations(loading, requests)
  yield* loadHistory(loading, requests)
  yield* loadIncidents(loading, requests)
  yield* loadMembers(loading, requests)
  yield* loadOutbox(loading, requests)
  yield* loadOperators(loading, requests)
  yield* loadSilences(loading, requests)
  if (requests.some(({ replicas }) => replicas)) yield* loadReplicas(loading)
  if (requests.some(({ serviceHeartbeat }) => serviceHeartbeat)) yield* loadServiceHeartbeat(loading)
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

const loadKeys = Effect.fnUntraced(function* ({ pg, unit }: Loading, requests: Requests) {
  const hashes = all(requests, ({ keys }) => keys)
  if (hashes.length > 0) {
    for (const row of yield* pg.query(lockKeys, [hashes])) yield* loadKey(unit, decodeKey(row))
    for (const hash of hashes) unit.keys.load(hash, undefined)
  }
  const agents = all(requests, ({ keysOfAgents }) => keysOfAgents)
  if (agents.length > 0) {
    for (const row of yield* pg.query(lockKeysOfAgents, [agents])) yield* loadKey(unit, decodeKey(row))
    for (const id of agents) unit.keysOfAgents.add(id)
  }
  const blocked = all(requests, ({ blacklist }) => blacklist)
  if (blocked.length === 0) return
  for (const row of yield* pg.query(lockBlacklist, [blocked])) {
    const key = decodeKey(row)
    if (key.state === "blocked") {
      unit.blacklist.load(key.blacklist_id, { id: key.blacklist_id, key_hash: key.key_hash })
    }
    yield* loadKey(unit, key)
  }
  for (const id of blocked) unit.blacklist.load(id, undefined)
})

/**
 * An absent agent has no lock, so its first heartbeat may be decided twice at the same time. The
 * second one finds no agent, and then, in a later statement, the key that the first one registered.
 * It starts over.
 */
const loadKey = (unit: UnitOfWork, key: AgentKeyRecord): Effect.Effect<void, SqlError.SqlError> => {
  const { agent_id, key_hash, state } = key
  const isKnown = unit.keys.isLoaded(key_hash)
  unit.keys.load(key_hash, key)
  const isOrphan =
    !isKnown &&
    state !== "blocked" &&
    unit.agents.isLoaded(agent_id) &&
    unit.agents.get(agent_id) === undefined
  return isOrphan
    ? sqlError("SerializationError", { message: "The agent was registered meanwhile", operation: "execute" })
    : Effect.void
}

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

const loadExpectations = Effect.fnUntraced(function* (loading: Loading, requests: Requests) {
  const { pg, unit } = loading
  const asked = requests.flatMap(({ expectations }) =>
    expectations === undefined ? [] : { agent_id: expectations.agent_id, ids: expectations.check_ids },
  )
  const wanted = ofRegistrations(loading, asked)
  if (wanted.length > 0) {
    for (const row of yield* pg.queryJson(findExpectations, wanted)) {
      const expectation = expectationTable.decode(row)
      unit.expectations.load(expectation, expectation)
    }
    for (const { ids, ...registration } of wanted)
      for (const check_id of ids) unit.expectations.load({ ...registration, check_id }, undefined)
  }
  const agents = all(requests, ({ expectationsOfAgents }) => expectationsOfAgents)
  if (agents.length === 0) return
  for (const row of yield* pg.query(findExpectationsOfAgents, [agents])) {
    const expectation = expectationTable.decode(row)
    unit.expectations.load(expectation, expectation)
  }
  for (const id of agents) unit.expectationsOfAgents.add(id)
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

const loadOperators = Effect.fnUntraced(function* ({ pg, unit }: Loading, requests: Requests) {
  const names = all(requests, ({ operators }) => operators)
  if (names.length === 0) return
  for (const row of yield* pg.query(lockOperators, [names])) {
    const operator = operatorTable.decode(row)
    unit.operators.load(operator.name, operator)
  }
  for (const name of names) unit.operators.load(name, undefined)
})

const loadSilences = Effect.fnUntraced(function* ({ pg, unit }: Loading, requests: Requests) {
  const ids = all(requests, ({ silences }) => silences)
  if (ids.length === 0) return
  for (const row of yield* pg.query(lockSilences, [ids])) {
    const silence = silenceTable.decode(row)
    unit.silences.load(silence.id, silence)
  }
  for (const id of ids) unit.silences.load(id, undefined)
})

const loadReplicas = Effect.fnUntraced(function* ({ pg, unit }: Loading) {
  yield* pg.query(lockReports, [])
  const rows = yield* pg.query(lockReplicas, [])
  unit.loadReplicas(rows.map(replicaTable.decode))
})

const loadServiceHeartbeat = ({ pg, unit }: Loading) =>
  Effect.map(pg.query(lockServiceHeartbeat, ["service"]), (rows) =>
    unit.serviceHeartbeats.load("service", rows.map(serviceHeartbeatTable.decode)[0]),
  )

const loadPendingAgents = Effect.fnUntraced(function* ({ pg, unit }: Loading) {
  yield* pg.query(lockRegistrations, [])
  const rows = yield* pg.query(countPendingAgents, [])
  unit.loadPendingAgents(Number(rows[0]?.["pending"]))
})

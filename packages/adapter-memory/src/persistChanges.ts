import type { AgentKeyRecord } from "@tocsin/core/model/AgentRecord"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { StoredHistoryRecord } from "@tocsin/core/model/ListDefinitions"
import type { Change } from "@tocsin/core/engine/unitOfWork/Table"
import type { UnitOfWorkChanges } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { type IncidentRecord, isCut } from "@tocsin/core/model/IncidentRecord"
import type { MemberRecord } from "@tocsin/core/model/MemberRecord"
import type { AlertRecord, OutboxRecord } from "@tocsin/core/model/OutboxRecord"
import { alertKey, memberKey, type MemoryTables } from "./MemoryTables.ts"

/**
 * Writes the changes of a transaction into the tables. Cannot fail half-way: it only sets and
 * deletes map entries.
 */
export const persistChanges = (tables: MemoryTables, changes: UnitOfWorkChanges): void => {
  for (const { registration_id } of changes.removedAgents) tables.removedRegistrations.add(registration_id)
  for (const { before, after } of changes.agents) {
    tables.pendingAgents +=
      Number(after?.admission_state === "pending") - Number(before?.admission_state === "pending")
    if (after !== undefined) tables.agents.set(after.agent_id, after)
    else if (before !== undefined) tables.agents.delete(before.agent_id)
  }
  for (const change of changes.keys) persistKey(tables, change)
  for (const { before, after } of changes.checks) {
    if (after !== undefined) tables.checks.put(after)
    else if (before !== undefined) tables.checks.remove(before)
  }
  for (const { before, after } of changes.expectations) {
    if (after !== undefined) tables.expectations.put(after)
    else if (before !== undefined) tables.expectations.remove(before)
  }
  for (const change of changes.incidents) persistIncident(tables, change)
  for (const { after } of changes.members) if (after !== undefined) persistMember(tables, after)
  for (const { after } of changes.outbox) if (after !== undefined) persistOutbox(tables, after)
  for (const change of changes.alerts) persistAlert(tables, change)
  for (const { after } of changes.serviceHeartbeats)
    tables.serviceHeartbeat = after ?? tables.serviceHeartbeat
  for (const { before, after } of changes.operators) {
    if (after !== undefined) tables.operators.set(after.name, after)
    else if (before !== undefined) tables.operators.delete(before.name)
  }
  for (const { before, after } of changes.replicas) {
    if (after !== undefined) tables.replicas.set(after.id, after)
    else if (before !== undefined) tables.replicas.delete(before.id)
  }
  for (const row of changes.audit) tables.audit.set(row.id, row)
  for (const { after } of changes.silences) if (after !== undefined) tables.silences.set(after.id, after)
  for (const change of changes.incidentChanges) append(tables.incidentChanges, change)
  for (const act of changes.incidentLog) append(tables.incidentLog, act)
  for (const cut of changes.timelineCuts) {
    const timeline = tables.incidentChanges.get(cut.incident_id) ?? []
    tables.incidentChanges.set(
      cut.incident_id,
      timeline.filter((change) => !isCut(change, cut)),
    )
  }
  for (const check of changes.removedChecks) {
    for (const row of tables.history.values()) {
      if (row.registration_id === check.registration_id && row.check_id === check.check_id)
        removeResult(tables, row)
    }
  }
  for (const row of changes.history) {
    tables.lastSeq += 1
    addResult(tables, { ...row, seq: tables.lastSeq })
  }
}

/** Stores a result; its number is higher than all others. */
export const addResult = (tables: MemoryTables, row: StoredHistoryRecord): void => {
  tables.history.set(row.seq, row)
  inner(tables.newestResults, row.registration_id).set(row.check_id, row.seq)
  inner(tables.knownEvents, row.registration_id).set(row.event_id, row.check_id)
}

/** Removes a result and its event ID. */
export const removeResult = (tables: MemoryTables, row: StoredHistoryRecord): void => {
  tables.history.delete(row.seq)
  if (tables.newestResults.get(row.registration_id)?.get(row.check_id) === row.seq)
    removeInner(tables.newestResults, row.registration_id, row.check_id)
  removeInner(tables.knownEvents, row.registration_id, row.event_id)
}

/** Removes an entry of an inner map or set, and the inner one once it is empty. */
export const removeInner = <K, K2>(
  outer: Map<K, { readonly size: number; readonly delete: (key: K2) => boolean }>,
  key: K,
  innerKey: K2,
): void => {
  const found = outer.get(key)
  if (found === undefined) return
  found.delete(innerKey)
  if (found.size === 0) outer.delete(key)
}

const append = <Row extends { readonly incident_id: IncidentId }>(
  timelines: Map<IncidentId, Array<Row>>,
  row: Row,
): void => {
  const timeline = timelines.get(row.incident_id)
  if (timeline === undefined) timelines.set(row.incident_id, [row])
  else timeline.push(row)
}

const inner = <K, K2, V>(maps: Map<K, Map<K2, V>>, key: K): Map<K2, V> => {
  const found = maps.get(key)
  if (found !== undefined) return found
  const created = new Map<K2, V>()
  maps.set(key, created)
  return created
}

const innerSet = <K, V>(sets: Map<K, Set<V>>, key: K): Set<V> => {
  const found = sets.get(key)
  if (found !== undefined) return found
  const created = new Set<V>()
  sets.set(key, created)
  return created
}

const persistKey = (tables: MemoryTables, { before, after }: Change<AgentKeyRecord>): void => {
  if (before !== undefined) {
    removeInner(tables.keysOfAgents, before.agent_id, before.key_hash)
    if (before.state === "blocked") tables.blacklist.delete(before.blacklist_id)
    if (after === undefined) tables.keys.delete(before.key_hash)
  }
  if (after === undefined) return
  tables.keys.set(after.key_hash, after)
  if (after.state === "blocked") tables.blacklist.set(after.blacklist_id, after.key_hash)
  else innerSet(tables.keysOfAgents, after.agent_id).add(after.key_hash)
}

const persistIncident = (tables: MemoryTables, { after }: Change<IncidentRecord>): void => {
  if (after === undefined) return
  tables.incidents.set(after.id, after)
  const open = tables.openIncidents[after.kind]
  if (after.state === "open") open.set(after.incident_key, after.id)
  // One transaction may resolve an incident and open another of the same key.
  else if (open.get(after.incident_key) === after.id) open.delete(after.incident_key)
}

const persistMember = (tables: MemoryTables, member: MemberRecord): void => {
  const ofIncident = inner(tables.members, member.incident_id)
  const name = memberKey(member)
  const before = ofIncident.get(name)
  ofIncident.set(name, member)
  if (before !== undefined) removeInner(tables.membershipsOfAgents, member.agent_id, before)
  if (member.left_at === undefined) innerSet(tables.membershipsOfAgents, member.agent_id).add(member)
}

export const persistOutbox = (tables: MemoryTables, item: OutboxRecord): void => {
  innerSet(tables.outboxOfIncidents, item.incident_id).add(item.id)
  tables.outbox.set(item.id, item)
}

const persistAlert = (tables: MemoryTables, { before, after }: Change<AlertRecord>): void => {
  if (after !== undefined) inner(tables.alerts, after.incident_id).set(alertKey(after), after)
  else if (before !== undefined) removeInner(tables.alerts, before.incident_id, alertKey(before))
}

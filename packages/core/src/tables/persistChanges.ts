import type { AgentKeyRecord } from "../admission/AgentKeyRecord.ts"
import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import type { MemberRecord } from "../incidents/MemberRecord.ts"
import type { StoredHistoryRecord } from "../lists/ListDefinitions.ts"
import type { AlertRecord } from "../notifications/AlertRecord.ts"
import type { OutboxRecord } from "../notifications/OutboxRecord.ts"
import type { Change } from "../workspace/Table.ts"
import type { WorkspaceChanges } from "../workspace/Workspace.ts"
import type { MemoryTables } from "./MemoryTables.ts"

/** Writes what a transaction changed into the tables. Cannot fail half-way: it only sets and deletes map entries. */
export const persistChanges = (tables: MemoryTables, changes: WorkspaceChanges): void => {
  for (const { registration_id } of changes.removedAgents) tables.removedRegistrations.push(registration_id)
  for (const { before, after } of changes.agents) {
    tables.pendingAgents +=
      Number(after?.admission_state === "pending") - Number(before?.admission_state === "pending")
    if (after !== undefined) tables.agents.set(after.agent_id, after)
    else if (before !== undefined) tables.agents.delete(before.agent_id)
  }
  for (const change of changes.keys) persistKey(tables, change)
  for (const { before, after } of changes.checks) {
    if (after !== undefined) inner(tables.checks, after.registration_id).set(after.check_id, after)
    else if (before !== undefined) tables.checks.get(before.registration_id)?.delete(before.check_id)
  }
  for (const change of changes.incidents) persistIncident(tables, change)
  for (const { after } of changes.members) if (after !== undefined) persistMember(tables, after)
  for (const { after } of changes.outbox) if (after !== undefined) persistOutbox(tables, after)
  for (const change of changes.alerts) persistAlert(tables, change)
  for (const { after } of changes.marks) tables.mark = after ?? tables.mark
  for (const change of changes.incidentChanges) {
    const story = tables.incidentChanges.get(change.incident_id)
    if (story === undefined) tables.incidentChanges.set(change.incident_id, [change])
    else story.push(change)
  }
  for (const check of changes.removedChecks) {
    forget(tables, (row) => row.registration_id === check.registration_id && row.check_id === check.check_id)
  }
  for (const row of changes.history) {
    tables.lastSeq += 1
    tables.history.push({ ...row, seq: tables.lastSeq })
    inner(tables.knownEvents, row.registration_id).set(row.event_id, row.check_id)
  }
}

/** Removes history rows, and their event ids with them. */
export const forget = (tables: MemoryTables, isDoomed: (row: StoredHistoryRecord) => boolean): void => {
  for (const row of tables.history) {
    if (isDoomed(row)) tables.knownEvents.get(row.registration_id)?.delete(row.event_id)
  }
  tables.history = tables.history.filter((row) => !isDoomed(row))
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
    tables.keysOfAgents.get(before.agent_id)?.delete(before.key_hash)
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
  const name = `${member.agent_id}/${member.check_id}`
  const before = ofIncident.get(name)
  ofIncident.set(name, member)
  const memberships = innerSet(tables.membershipsOfAgents, member.agent_id)
  if (before !== undefined) memberships.delete(before)
  if (member.left_at === undefined) memberships.add(member)
}

const persistOutbox = (tables: MemoryTables, item: OutboxRecord): void => {
  if (!tables.outbox.has(item.id)) {
    const ofIncident = tables.outboxOfIncidents.get(item.incident_id)
    if (ofIncident === undefined) tables.outboxOfIncidents.set(item.incident_id, [item.id])
    else ofIncident.push(item.id)
  }
  tables.outbox.set(item.id, item)
}

const persistAlert = (tables: MemoryTables, { before, after }: Change<AlertRecord>): void => {
  if (after !== undefined) inner(tables.alerts, after.incident_id).set(after.severity, after)
  else if (before !== undefined) tables.alerts.get(before.incident_id)?.delete(before.severity)
}

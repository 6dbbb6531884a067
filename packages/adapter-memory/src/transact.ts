import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Command, decideSync, type Step } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { Change } from "@tocsin/core/kernel/unitOfWork/Table"
import type { UnitOfWork, UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { openUnit } from "@tocsin/core/lists/openUnit"
import { answer } from "@tocsin/core/kernel/unitOfWork/RowSource"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import { isCut } from "@tocsin/core/kernel/model/timelineCut"
import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord, StoredHistoryRecord } from "@tocsin/core/heart/model/CheckRecord"
import { type KeyedName, keyedNames, type KeyedRows, keyText } from "@tocsin/core/lists/StoredTables"
import { DELETION, seriesKey } from "@tocsin/core/features/numbers/NumberPart"
import type { KeyedMaps, MemoryTables } from "./MemoryTables.ts"
import { MemoryRowSource } from "./MemoryRowSource.ts"

export const answerFrom = (
  tables: MemoryTables,
  unit: UnitOfWork,
  step: Step,
  now: Instant.Instant,
): unknown => answer(new MemoryRowSource(tables), unit, now, step)

/** Writes the changes of a transaction. Cannot fail half-way: it only sets and deletes map entries. */
export const persistChanges = (tables: MemoryTables, changes: UnitOfWorkChanges): void => {
  for (const { registration_id } of changes.removed_registration)
    tables.removedRegistrations.add(registration_id)
  persistReports(tables, changes.agent, changes.check_state)
  for (const change of changes.incident) persistIncident(tables, change)
  for (const name of keyedNames) persistRows(name, tables.keyed, changes)
  for (const row of changes.audit) tables.audit.set(row.id, row)
  for (const change of changes.incident_change) append(tables.incidentChanges, change)
  for (const act of changes.incident_log) append(tables.incidentLog, act)
  for (const cut of changes.timelineCuts) {
    const timeline = tables.incidentChanges.get(cut.incident_id) ?? []
    tables.incidentChanges.set(
      cut.incident_id,
      timeline.filter((change) => !isCut(change, cut)),
    )
  }
  for (const check of changes.removedChecks) {
    for (const rows of [tables.numberSeries, tables.numberParts])
      for (const [key, row] of rows)
        if (row.registration_id === check.registration_id && row.check_id === check.check_id) rows.delete(key)
    const { agent_id, check_id, received_at, registration_id } = check
    const deletion = { agent_id, registration_id, check_id, name: DELETION, unit: "" }
    tables.numberSeries.set(seriesKey(deletion), { ...deletion, newest: Instant.toMillis(received_at) })
    for (const row of tables.history.values()) {
      if (row.registration_id === check.registration_id && row.check_id === check.check_id)
        removeResult(tables, row)
    }
  }
  for (const row of changes.check_event) {
    tables.lastSeq += 1
    addResult(tables, { ...row, seq: tables.lastSeq })
  }
}

/** Writes agents and checks, which most transactions change alone. */
const persistReports = (
  tables: MemoryTables,
  agents: ReadonlyArray<Change<AgentRecord>>,
  checks: ReadonlyArray<Change<CheckRecord>>,
): void => {
  for (const { before, after } of agents) {
    tables.pendingAgents +=
      Number(after?.admission_state === "pending") - Number(before?.admission_state === "pending")
    if (after !== undefined) tables.agents.set(after.agent_id, after)
    else if (before !== undefined) tables.agents.delete(before.agent_id)
  }
  for (const { before, after } of checks) {
    if (after !== undefined) tables.checks.put(after)
    else if (before !== undefined) tables.checks.remove(before)
  }
}

/** Stores a result; its number is higher than all others. */
export const addResult = (tables: MemoryTables, row: StoredHistoryRecord): void => {
  tables.history.set(row.seq, row)
  inner(tables.newestResults, row.registration_id).set(row.check_id, row.seq)
  inner(tables.knownEvents, row.registration_id).set(row.event_id, row.check_id)
}

export const removeResult = (tables: MemoryTables, row: StoredHistoryRecord): void => {
  tables.history.delete(row.seq)
  if (tables.newestResults.get(row.registration_id)?.get(row.check_id) === row.seq)
    removeInner(tables.newestResults, row.registration_id, row.check_id)
  removeInner(tables.knownEvents, row.registration_id, row.event_id)
}

/** Removes an entry of an inner map or set, and the inner one once it is empty. */
const removeInner = <K, K2>(
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

const persistRows = <N extends KeyedName>(
  name: N,
  { [name]: rows }: KeyedMaps,
  changes: { readonly [Name in N]: ReadonlyArray<Change<KeyedRows[Name]>> },
): void => {
  for (const { before, after } of changes[name]) {
    if (after !== undefined) rows.set(keyText(name, after), after)
    else if (before !== undefined) rows.delete(keyText(name, before))
  }
}

const persistIncident = (tables: MemoryTables, { after }: Change<IncidentRecord>): void => {
  if (after === undefined) return
  tables.incidents.set(after.id, after)
  const open = tables.openIncidents[after.kind]
  if (after.state === "open") open.set(after.incident_key, after.id)
  // One transaction may resolve an incident and open another of the same key.
  else if (open.get(after.incident_key) === after.id) open.delete(after.incident_key)
}

/** Runs a command on tables in memory. If a decision throws, nothing changes. */
export const transact = <A>(tables: MemoryTables, command: Command<A>, now: Instant.Instant): A => {
  const unit = openUnit()
  const source = new MemoryRowSource(tables)
  const reply = decideSync(command(unit, now), (step) => answer(source, unit, now, step))
  // Looking through all tables would cost more than a heartbeat.
  if (unit.changesMore) persistChanges(tables, unit.changes())
  else persistReports(tables, unit.agents.changes(), unit.checks.changes())
  return reply
}

import { MemoryTables } from "../MemoryTables.ts"
import type { ExpiredRows } from "../expire.ts"
import { addResult, persistChanges } from "../persistChanges.ts"
import type { Change } from "@tocsin/core/engine/unitOfWork/Table"
import type { UnitOfWorkChanges } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { type IncidentChangeRecord, isCut } from "@tocsin/core/model/IncidentRecord"
import type { Entries } from "./KeyValueStore.ts"
import { readRow, rowKeys, type RowKind, type Rows, writeRow } from "./rows.ts"

/** The rows that a write changes, by their keys. */
export type RowChanges = ReadonlyMap<string, Change<unknown>>

/** The entries that make these changes, or with `before` those that undo them. */
export const entriesOf = (changes: RowChanges, side: "before" | "after"): Entries =>
  new Map(
    Array.from(changes, ([key, { [side]: row }]) => [key, row === undefined ? undefined : writeRow(row)]),
  )

const inserted = (after: unknown): Change<unknown> => ({ before: undefined, after })
const deleted = (before: unknown): Change<unknown> => ({ before, after: undefined })

/** The rows that a transaction changes. `tables` are as they were before it. */
export const changedRows = (tables: MemoryTables, changes: UnitOfWorkChanges): RowChanges => {
  const rows = new Map<string, Change<unknown>>()
  const change = <Row>(keyOf: (row: Row) => string, changed: ReadonlyArray<Change<Row>>): void => {
    for (const { before, after } of changed) {
      const row = after ?? before
      if (row !== undefined) rows.set(keyOf(row), { before, after })
    }
  }
  change(rowKeys.agent, changes.agents)
  change(rowKeys.agent_key, changes.keys)
  change(rowKeys.check_state, changes.checks)
  change(rowKeys.expectation, changes.expectations)
  change(rowKeys.incident, changes.incidents)
  change(rowKeys.incident_member, changes.members)
  change(rowKeys.outbox, changes.outbox)
  change(rowKeys.alert, changes.alerts)
  change(rowKeys.service_heartbeat, changes.serviceHeartbeats)
  change(rowKeys.operator, changes.operators)
  change(rowKeys.silence, changes.silences)
  change(rowKeys.replica, changes.replicas)
  for (const row of changes.incidentChanges) rows.set(rowKeys.incident_change(row), inserted(row))
  for (const row of changes.audit) rows.set(rowKeys.audit(row), inserted(row))
  for (const row of changes.incidentLog) rows.set(rowKeys.incident_log(row), inserted(row))
  for (const cut of changes.timelineCuts) {
    const isOfCut = (row: IncidentChangeRecord) => row.incident_id === cut.incident_id && isCut(row, cut)
    for (const row of (tables.incidentChanges.get(cut.incident_id) ?? []).filter(isOfCut))
      rows.set(rowKeys.incident_change(row), deleted(row))
    for (const row of changes.incidentChanges.filter(isOfCut))
      rows.set(rowKeys.incident_change(row), deleted(undefined))
  }
  for (const row of changes.removedAgents) rows.set(rowKeys.removed_registration(row), inserted(row))
  for (const { registration_id, check_id } of changes.removedChecks) {
    for (const row of tables.history.values())
      if (row.registration_id === registration_id && row.check_id === check_id)
        rows.set(rowKeys.check_event(row), deleted(row))
  }
  const numbered = changes.history.map((row, index) => ({ ...row, seq: tables.lastSeq + index + 1 }))
  for (const row of numbered) rows.set(rowKeys.check_event(row), inserted(row))
  const newest = numbered.at(-1)
  if (newest !== undefined)
    rows.set(rowKeys.sequence(), { before: { seq: tables.lastSeq }, after: { seq: newest.seq } })
  return rows
}

/** The rows that retention deletes. */
export const expiredRows = (expired: ExpiredRows): RowChanges => {
  const rows = new Map<string, Change<unknown>>()
  const remove = <Row>(keyOf: (row: Row) => string, removed: ReadonlyArray<Row>): void => {
    for (const row of removed) rows.set(keyOf(row), deleted(row))
  }
  remove(rowKeys.check_state, expired.checks)
  remove(rowKeys.expectation, expired.expectations)
  remove(rowKeys.removed_registration, expired.registrations)
  remove(rowKeys.check_event, expired.history)
  remove(rowKeys.outbox, expired.outbox)
  remove(rowKeys.incident_member, expired.members)
  remove(rowKeys.incident_change, expired.incidentChanges)
  remove(rowKeys.incident_log, expired.incidentLog)
  remove(rowKeys.alert, expired.alerts)
  remove(rowKeys.incident, expired.incidents)
  remove(rowKeys.audit, expired.audit)
  remove(rowKeys.silence, expired.silences)
  return rows
}

/** The tables that entries stand for. Throws if an entry is not one of ours. */
export const loadTables = async (
  entries: AsyncIterable<readonly [string, string]> | Iterable<readonly [string, string]>,
): Promise<MemoryTables> => {
  const rows = new Map<RowKind, Array<unknown>>()
  for await (const [key, text] of entries) {
    const { kind, row } = readRow(key, text)
    const ofKind = rows.get(kind)
    if (ofKind === undefined) rows.set(kind, [row])
    else ofKind.push(row)
  }
  // `changedEntries` wrote them from records of their kind.
  return tablesOf((kind) => (rows.get(kind) ?? []) as unknown as ReadonlyArray<never>)
}

const tablesOf = (rowsOf: <Kind extends RowKind>(kind: Kind) => ReadonlyArray<Rows[Kind]>): MemoryTables => {
  const added = <Kind extends RowKind>(kind: Kind): ReadonlyArray<Change<Rows[Kind]>> =>
    rowsOf(kind).map((after) => ({ before: undefined, after }))
  const tables = new MemoryTables()
  persistChanges(tables, {
    agents: added("agent"),
    keys: added("agent_key"),
    checks: added("check_state"),
    expectations: added("expectation"),
    incidents: added("incident"),
    members: added("incident_member"),
    outbox: added("outbox"),
    alerts: added("alert"),
    serviceHeartbeats: added("service_heartbeat"),
    operators: added("operator"),
    silences: added("silence"),
    replicas: added("replica"),
    incidentChanges: rowsOf("incident_change").toSorted((a, b) => a.seq - b.seq),
    incidentLog: rowsOf("incident_log").toSorted((a, b) => a.seq - b.seq),
    audit: rowsOf("audit"),
    timelineCuts: [],
    removedChecks: [],
    removedAgents: rowsOf("removed_registration"),
    history: [],
  })
  // Not by persistChanges, which numbers rows anew.
  for (const row of rowsOf("check_event").toSorted((a, b) => a.seq - b.seq)) addResult(tables, row)
  for (const { seq } of rowsOf("sequence")) tables.lastSeq = seq
  for (const { name, value } of rowsOf("established")) tables.established.set(name, value)
  return tables
}

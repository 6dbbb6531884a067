import { MemoryTables } from "../MemoryTables.ts"
import type { ExpiredRow } from "../expire.ts"
import { addResult, persistChanges } from "../persistChanges.ts"
import type { Change } from "@tocsin/core/engine/unitOfWork/Table"
import type { UnitOfWorkChanges } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { forNames, keyedNames } from "@tocsin/core/model/StoredTables"
import { type IncidentChangeRecord, isCut } from "@tocsin/core/model/IncidentRecord"
import type { Entries } from "./KeyValueStore.ts"
import { readRow, rowKey, type RowKind, type Rows, SEQUENCE, writeRow } from "./rows.ts"

/** The rows that a write changes, by their keys. */
export type RowChanges = ReadonlyMap<string, Change<unknown>>

/** The entries that make these changes, or with `before` those that undo them. */
export const entriesOf = (changes: RowChanges, side: "before" | "after"): Entries =>
  new Map(
    Array.from(changes, ([key, { [side]: row }]) => [key, row === undefined ? undefined : writeRow(row)]),
  )

/** The kinds of which a transaction changes rows; of the others it adds rows. */
const CHANGED = ["agent", "check_state", "incident", ...keyedNames] as const

const inserted = (after: unknown): Change<unknown> => ({ before: undefined, after })
const deleted = (before: unknown): Change<unknown> => ({ before, after: undefined })

/** The rows that a transaction changes. `tables` are as they were before it. */
export const changedRows = (tables: MemoryTables, changes: UnitOfWorkChanges): RowChanges => {
  const rows = new Map<string, Change<unknown>>()
  const change = (kind: RowKind, changed: ReadonlyArray<Change<object>>): void => {
    for (const { before, after } of changed) {
      const row = after ?? before
      if (row !== undefined) rows.set(rowKey(kind, row), { before, after })
    }
  }
  const insert = (kind: RowKind, added: ReadonlyArray<object>): void => {
    for (const row of added) rows.set(rowKey(kind, row), inserted(row))
  }
  for (const kind of CHANGED) change(kind, changes[kind])
  insert("incident_change", changes.incident_change)
  insert("audit", changes.audit)
  insert("incident_log", changes.incident_log)
  for (const cut of changes.timelineCuts) {
    const isOfCut = (row: IncidentChangeRecord) => row.incident_id === cut.incident_id && isCut(row, cut)
    for (const row of (tables.incidentChanges.get(cut.incident_id) ?? []).filter(isOfCut))
      rows.set(rowKey("incident_change", row), deleted(row))
    for (const row of changes.incident_change.filter(isOfCut))
      rows.set(rowKey("incident_change", row), deleted(undefined))
  }
  insert("removed_registration", changes.removed_registration)
  for (const { registration_id, check_id } of changes.removedChecks) {
    for (const row of tables.history.values())
      if (row.registration_id === registration_id && row.check_id === check_id)
        rows.set(rowKey("check_event", row), deleted(row))
  }
  const numbered = changes.check_event.map((row, index) => ({ ...row, seq: tables.lastSeq + index + 1 }))
  insert("check_event", numbered)
  const newest = numbered.at(-1)
  if (newest !== undefined)
    rows.set(SEQUENCE, { before: { seq: tables.lastSeq }, after: { seq: newest.seq } })
  return rows
}

/** The rows that retention deletes. The subjects of a row of the audit are part of it. */
export const expiredRows = (expired: ReadonlyArray<ExpiredRow>): RowChanges =>
  new Map(
    expired.flatMap(({ table, row }) =>
      table === "audit_subject" ? [] : [[rowKey(table, row), deleted(row)]],
    ),
  )

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
  const tables = new MemoryTables()
  persistChanges(tables, {
    ...forNames<(typeof CHANGED)[number], Pick<UnitOfWorkChanges, (typeof CHANGED)[number]>>(
      CHANGED,
      (kind) => rowsOf(kind).map((after) => inserted(after)),
    ),
    incident_change: rowsOf("incident_change").toSorted((a, b) => a.seq - b.seq),
    incident_log: rowsOf("incident_log").toSorted((a, b) => a.seq - b.seq),
    audit: rowsOf("audit"),
    timelineCuts: [],
    removedChecks: [],
    removed_registration: rowsOf("removed_registration"),
    check_event: [],
  })
  // Not by persistChanges, which gives rows new numbers.
  for (const row of rowsOf("check_event").toSorted((a, b) => a.seq - b.seq)) addResult(tables, row)
  for (const { seq } of rowsOf("sequence")) tables.lastSeq = seq
  for (const { name, value } of rowsOf("established")) tables.established.set(name, value)
  return tables
}

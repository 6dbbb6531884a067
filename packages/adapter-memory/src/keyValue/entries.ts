import type { Change } from "@tocsin/core/kernel/unitOfWork/Table"
import type { UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { IncidentChangeRecord } from "@tocsin/core/heart/model/IncidentRecord"
import { isCut } from "@tocsin/core/kernel/model/timelineCut"
import { storedTables, forNames, keyedNames } from "@tocsin/core/lists/StoredTables"
import type { AnyShape, TableShape } from "@tocsin/core/kernel/model/TableShape"
import { MemoryTables } from "../MemoryTables.ts"
import type { ExpiredRow } from "../expire.ts"
import { addResult, persistChanges } from "../transact.ts"

/** Texts by key; `undefined` deletes the key. */
export type Entries = ReadonlyMap<string, string | undefined>

/**
 * Why a store failed: another process has it open, its disk is full, its content is damaged, or it may not be
 * written to.
 */
export type KeyValueFailure = "in_use" | "full" | "damaged" | "read_only"

/** Entries in any order, as a map or an iterator of a database gives them. */
export type LoadedEntries = AsyncIterable<readonly [string, string]> | Iterable<readonly [string, string]>

/**
 * Your own store for a monitor's state: it keeps texts by key and can change several of them
 * atomically. Keys have up to about 700 characters, and values up to 2 MiB. Most values have less than 20 kB;
 * a stored policy is a large one.
 *
 * An error that has a `reason` of {@link KeyValueFailure} gives it to the failure of the call behind it:
 * `throw Object.assign(new Error("The disk is full: free some space."), { reason: "full" })`.
 *
 * Tocsin also holds all state in memory and reads it there: about 1 kB for each check and each kept
 * change. It reads the store only at the start, so one process owns it: refuse to open it twice.
 */
export interface KeyValueStore {
  /** All entries, each key once, in any order. Called once, before anything else. */
  readonly load: () => LoadedEntries | Promise<LoadedEntries>
  /**
   * Makes all of these changes or none, and resolves once they survive a power failure. Never
   * called again before it has settled. If it rejects, it may or may not have made them, but makes
   * none later: the call behind it fails, and the next write restores the former values.
   */
  readonly write: (changes: Entries) => Promise<void>
  /** Closes the store, after everything else. */
  readonly close?: () => Promise<void>
}

type Shapes = Omit<typeof storedTables, "agent_key" | "audit_subject" | "removed_registration">

/** The kinds of row in a store: those of the tables, and the sequence. */
type Rows = {
  readonly [Kind in keyof Shapes]: Shapes[Kind] extends TableShape<infer Row> ? Row : never
} & {
  readonly agent_key: AgentKeyRecord
  readonly removed_registration: AgentRecord
  /** The number of the newest row of the history, which may itself be gone. */
  readonly sequence: { readonly seq: number }
}
type RowKind = keyof Rows

const shapes: Readonly<Record<RowKind, AnyShape>> = {
  ...storedTables,
  sequence: { name: "sequence", key: [], columns: {} },
}

/** The key of the only row that no table has. */
const SEQUENCE = "sequence/check_event"

/** The key of a row: its kind, and its key there. No part of a key contains a slash. */
export const rowKey = (kind: RowKind, row: object): string =>
  // Records have the columns of their table.
  [kind, ...shapes[kind].key.map((column) => (row as Readonly<Record<string, unknown>>)[column])].join("/")

// Values without a form in JSON. No record has a field, and no label a key, with this first
// character.
const MARK = "$"

/** A record as JSON: instants are bigint, and a field that is undefined differs from an absent one. */
const writeRow = (row: unknown): string =>
  // `value` has passed through toJSON, which programs define for bigint; only the holder is
  // original.
  JSON.stringify(row, function (this: Readonly<Record<string, unknown>>, name) {
    const value = this[name]
    if (typeof value === "bigint") return { [MARK]: value.toString() }
    return value === undefined ? { [MARK]: null } : value
  })

/** Reads an entry. Throws if it is not one of ours. */
const readRow = (key: string, text: string): { readonly kind: RowKind; readonly row: unknown } => {
  const kind = key.slice(0, key.indexOf("/"))
  if (!isRowKind(kind))
    throw new Error(
      `the store holds ${key.slice(0, 64)}, which is no row of Tocsin's: give Tocsin a store that nothing else writes to`,
    )
  const row = restore(JSON.parse(text))
  const fields = Object(row)
  for (const [name, { type }] of Object.entries(shapes[kind].columns)) {
    if (type !== "instant" || fields[name] === undefined || typeof fields[name] === "bigint") continue
    throw new Error(
      `${name} of the row ${key} is not a time; it was written by an older version in a program that defines BigInt.prototype.toJSON, so restore a copy of the store from before, or start with an empty one`,
    )
  }
  if (kind === "outbox" && !Object.hasOwn(fields, "receiver"))
    throw new Error(`the row ${key} was written by Tocsin 0.1.0: start with an empty store`)
  return { kind, row }
}

const isRowKind = (name: string): name is RowKind => Object.hasOwn(shapes, name) && name !== "audit_subject"

// Not JSON.parse's reviver, which deletes a field that becomes undefined.
const restore = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(restore)
  const entries = Object.entries(value)
  const [first] = entries
  if (first?.[0] === MARK) return typeof first[1] === "string" ? BigInt(first[1]) : undefined
  return Object.fromEntries(entries.map(([name, field]) => [name, restore(field)]))
}

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

/** The rows of a store by their kinds. Throws if an entry is not one of ours. */
export const readEntries = async (
  entries: LoadedEntries,
): Promise<ReadonlyMap<string, ReadonlyArray<unknown>>> => {
  const rows = new Map<string, Array<unknown>>()
  for await (const [key, text] of entries) {
    const { kind, row } = readRow(key, text)
    const ofKind = rows.get(kind)
    if (ofKind === undefined) rows.set(kind, [row])
    else ofKind.push(row)
  }
  return rows
}

/** The entry of a row, by the name of its table; nothing for rows that a store has within others. */
export const entryOf = (name: string, row: object): readonly [key: string, text: string] | undefined =>
  isRowKind(name) ? [name === "sequence" ? SEQUENCE : rowKey(name, row), writeRow(row)] : undefined

/** The tables that entries stand for. Throws if an entry is not one of ours. */
export const loadTables = async (entries: LoadedEntries): Promise<MemoryTables> => {
  const rows = await readEntries(entries)
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

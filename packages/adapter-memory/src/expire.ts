import type { AuditRecord } from "@tocsin/core/heart/model/AuditRecord"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { StoredHistoryRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import { isUnended } from "@tocsin/core/heart/model/OutboxRecord"
import {
  forNames,
  isKeyed,
  type KeyedName,
  type KeyedRows,
  keyText,
  type storedTables,
} from "@tocsin/core/lists/StoredTables"
import {
  expireNow,
  type RetentionPiece,
  type RetentionResult,
  type RetentionTables,
} from "@tocsin/core/lists/retention/retentionPiece"
import {
  type AgedName,
  agedNames,
  agedTables,
  type RemovedRows,
  removedRows,
  type RetentionFacts,
  RetentionRules,
} from "@tocsin/core/lists/retention/RetentionRules"
import type { IndexedRows } from "./IndexedRows.ts"
import type { KeyedMaps, MemoryTables } from "./MemoryTables.ts"
import { removeResult } from "./transact.ts"

export interface ExpiredRow {
  readonly table: keyof typeof storedTables
  readonly row: object
  readonly remove: () => void
}

/** Decides a piece of retention. {@link removeExpired} then removes the rows. */
export const decideExpiry = (
  tables: MemoryTables,
  piece: RetentionPiece,
): { readonly result: RetentionResult; readonly expired: ReadonlyArray<ExpiredRow> } => {
  const expired: Array<ExpiredRow> = []
  const remove: RetentionTables<"now">["remove"] = (rows, keys, limit) => {
    const { by, table } = removedRows[rows]
    // The removals of all other tables are in REMOVALS.
    const removal = isKeyed(table) ? ofKeyed(table, by) : REMOVALS[rows as UnkeyedRows]
    const found = removal(tables, keys, limit)
    for (const row of found) expired.push({ table, ...row })
    return found.length
  }
  return { result: expireNow({ look: look(tables), quarantine: () => {}, remove }, piece), expired }
}

/** Removes rows that {@link decideExpiry} found, from tables and indexes. */
export const removeExpired = (expired: ReadonlyArray<ExpiredRow>): void => {
  for (const { remove } of expired) remove()
}

const removeFromTimeline = <Row extends { readonly incident_id: IncidentId }>(
  timelines: Map<IncidentId, Array<Row>>,
  row: Row,
): void => {
  const timeline = timelines.get(row.incident_id)
  // Rows go from the first one on.
  timeline?.splice(timeline.indexOf(row), 1)
  if (timeline?.length === 0) timelines.delete(row.incident_id)
}

const look = (tables: MemoryTables): RetentionTables<"now">["look"] => ({
  deleted_agents: ({ limit }) => first(registrations(tables), limit),
  history: (piece) => first(oldResults(tables, piece), piece.limit),
  // Looks leave out rows that stay, so it does not matter where a piece starts.
  outbox: (piece) => first(oldOutbox(tables, piece), piece.limit),
  incidents: (piece) => first(oldIncidents(tables, piece), piece.limit),
  ...forNames<AgedName, Pick<RetentionTables<"now">["look"], AgedName>>(
    agedNames,
    (rule) => (piece: RetentionPiece) => {
      const aged = agedTables[rule]
      const rows = aged.table === "audit" ? tables.audit : tables.keyed[aged.table]
      return first(agedRows(rows.values(), aged, piece), piece.limit)
    },
  ),
})

const first = <Row>(rows: Iterable<Row>, limit: number): ReadonlyArray<Row> => {
  const found: Array<Row> = []
  for (const row of rows) {
    if (found.length === limit) break
    found.push(row)
  }
  return found
}

function* rowsAt<Key, Row>(rows: ReadonlyMap<Key, Row>, keys: ReadonlyArray<Key>): Generator<Row> {
  for (const key of keys) {
    const row = rows.get(key)
    if (row !== undefined) yield row
  }
}

function* rowsIn<Row>(
  groups: ReadonlyMap<string, { readonly values: () => Iterable<Row> }>,
  keys: ReadonlyArray<string>,
): Generator<Row> {
  for (const group of rowsAt(groups, keys)) yield* group.values()
}

function* registrations(tables: MemoryTables): Generator<RetentionFacts["deleted_agents"]> {
  for (const key of tables.removedRegistrations) yield { key }
}

function* resultsOf(tables: MemoryTables, keys: ReadonlyArray<string>): Generator<StoredHistoryRecord> {
  const wanted = new Set(keys.filter((key) => tables.newestResults.has(key)))
  if (wanted.size === 0) return
  for (const row of tables.history.values()) if (wanted.has(row.registration_id)) yield row
}

/** Results received before the bound, except the newest of each check. */
function* oldResults(tables: MemoryTables, { before }: RetentionPiece): Generator<RetentionFacts["history"]> {
  const { inOrderFrom } = tables.history
  for (const row of tables.history.values()) {
    if (row.received_at >= before) {
      if (row.seq >= inOrderFrom) return
      continue
    }
    const isNewest = tables.newestResults.get(row.registration_id)?.get(row.check_id) === row.seq
    if (!isNewest) yield { key: String(row.seq), isNewest }
  }
}

function* oldOutbox(tables: MemoryTables, { before }: RetentionPiece): Generator<RetentionFacts["outbox"]> {
  for (const item of tables.keyed.outbox.values()) {
    const incident = tables.incidents.get(item.incident_id)
    const row = {
      ...item,
      key: item.id,
      incident: incident && {
        ...incident,
        hasUnfinishedNotification: hasUnfinishedNotification(tables, incident.id),
      },
    }
    if (RetentionRules.outbox.judge(row, before) === "expired") yield row
  }
}

function* oldIncidents(
  tables: MemoryTables,
  { before }: RetentionPiece,
): Generator<RetentionFacts["incidents"]> {
  for (const incident of tables.incidents.values()) {
    const row = {
      ...incident,
      key: incident.id,
      hasUnfinishedNotification: hasUnfinishedNotification(tables, incident.id),
    }
    if (RetentionRules.incidents.judge(row, before) === "expired") yield row
  }
}

function* agedRows(
  rows: Iterable<object>,
  { key, from }: { readonly key: string; readonly from: string },
  { before }: RetentionPiece,
): Generator<{ readonly key: string }> {
  // The declaration of the table says that these columns are an instant and a text.
  for (const row of rows as Iterable<Readonly<Record<string, Instant & string>>>)
    if (row[from] !== undefined && row[from] < before) yield { key: String(row[key]) }
}

const hasUnfinishedNotification = (tables: MemoryTables, id: IncidentId): boolean =>
  tables.keyed.outbox.of("incident_id", id).some(isUnended)

/** Finds at most `limit` rows to remove by the keys of a rule. */
type Removal = (
  tables: MemoryTables,
  keys: ReadonlyArray<string>,
  limit: number,
) => ReadonlyArray<Omit<ExpiredRow, "table">>

const removal =
  <Row extends object>(
    rowsOf: (tables: MemoryTables, keys: ReadonlyArray<string>) => Iterable<Row>,
    remove: (tables: MemoryTables, row: Row) => void,
  ): Removal =>
  (tables, keys, limit) =>
    first(rowsOf(tables, keys), limit).map((row) => ({ row, remove: () => remove(tables, row) }))

const ofKeyed = <N extends KeyedName>(name: N, by: string): Removal => {
  const rowsOf = ({ keyed }: MemoryTables): IndexedRows<KeyedRows[N], string> => (keyed as KeyedMaps)[name]
  return removal<KeyedRows[N]>(
    (tables, keys) => {
      const rows = rowsOf(tables)
      return keys.flatMap((key) => rows.get(key) ?? rows.of(by, key))
    },
    (tables, row) => rowsOf(tables).delete(keyText(name, row)),
  )
}

type UnkeyedRows = {
  [R in RemovedRows]: (typeof removedRows)[R]["table"] extends KeyedName ? never : R
}[RemovedRows]

const REMOVALS: Readonly<Record<UnkeyedRows, Removal>> = {
  checks_of_agents: removal(
    ({ checks }, keys) => rowsIn(checks, keys),
    ({ checks }, row) => checks.remove(row),
  ),
  results_of_agents: removal(resultsOf, removeResult),
  agents: removal(
    (_, keys) => keys.map((registration_id) => ({ registration_id })),
    ({ removedRegistrations }, row) => removedRegistrations.delete(row.registration_id),
  ),
  results: removal(({ history }, keys) => rowsAt(history, keys.map(Number)), removeResult),
  changes: removal(
    ({ incidentChanges }, keys) => rowsIn(incidentChanges, keys),
    ({ incidentChanges }, row) => removeFromTimeline(incidentChanges, row),
  ),
  log: removal(
    ({ incidentLog }, keys) => rowsIn(incidentLog, keys),
    ({ incidentLog }, row) => removeFromTimeline(incidentLog, row),
  ),
  incidents: removal(
    ({ incidents }, keys) => rowsAt<string, IncidentRecord>(incidents, keys),
    ({ incidents }, { id }) => incidents.delete(id),
  ),
  // The subjects of a row are part of it here.
  audit_subjects: () => [],
  audit: removal(
    ({ audit }, keys) => rowsAt<string, AuditRecord>(audit, keys),
    ({ audit }, { id }) => audit.delete(id),
  ),
}

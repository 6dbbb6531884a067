import type { AuditRecord } from "@tocsin/core/model/AuditRecord"
import type { CheckRef } from "@tocsin/core/model/CheckRecord"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { StoredHistoryRecord } from "@tocsin/core/model/ListDefinitions"
import type { ExpectationRecord } from "@tocsin/core/model/ExpectationRecord"
import type { IncidentChangeRecord, IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import type { IncidentLogRecord } from "@tocsin/core/model/IncidentLogRecord"
import type { MemberRecord } from "@tocsin/core/model/MemberRecord"
import { type AlertRecord, isUnended, type OutboxRecord } from "@tocsin/core/model/OutboxRecord"
import {
  expireNow,
  type RetentionPiece,
  type RetentionResult,
  type RetentionTables,
} from "@tocsin/core/retention/retentionPiece"
import { type RetentionFacts, RetentionRules } from "@tocsin/core/retention/RetentionRules"
import type { SilenceRecord } from "@tocsin/core/model/SilenceRecord"
import { alertKey, memberKey, type MemoryTables, outboxOf } from "./MemoryTables.ts"
import { removeInner, removeResult } from "./persistChanges.ts"

const noRows = () => ({
  checks: Array.of<CheckRef>(),
  expectations: Array.of<ExpectationRecord>(),
  registrations: Array.of<{ readonly registration_id: string }>(),
  history: Array.of<StoredHistoryRecord>(),
  outbox: Array.of<OutboxRecord>(),
  members: Array.of<MemberRecord>(),
  incidentChanges: Array.of<IncidentChangeRecord>(),
  incidentLog: Array.of<IncidentLogRecord>(),
  alerts: Array.of<AlertRecord>(),
  incidents: Array.of<IncidentRecord>(),
  audit: Array.of<AuditRecord>(),
  silences: Array.of<SilenceRecord>(),
})

/** Rows that a piece of retention removes. */
export type ExpiredRows = ReturnType<typeof noRows>

/** Decides a piece of retention. {@link removeExpired} then removes the rows. */
export const decideExpiry = (
  tables: MemoryTables,
  piece: RetentionPiece,
): { readonly result: RetentionResult; readonly expired: ExpiredRows } => {
  const expired = noRows()
  const result = expireNow(
    { look: look(tables), quarantine: () => {}, remove: remove(tables, expired) },
    piece,
  )
  return { result, expired }
}

/** Removes rows that {@link decideExpiry} found, from tables and indexes. */
export const removeExpired = (tables: MemoryTables, expired: ExpiredRows): void => {
  for (const row of expired.checks) tables.checks.remove(row)
  for (const row of expired.expectations) tables.expectations.remove(row)
  for (const row of expired.history) removeResult(tables, row)
  for (const row of expired.registrations) tables.removedRegistrations.delete(row.registration_id)
  for (const row of expired.outbox) {
    tables.outbox.delete(row.id)
    removeInner(tables.outboxOfIncidents, row.incident_id, row.id)
  }
  for (const row of expired.members) removeInner(tables.members, row.incident_id, memberKey(row))
  for (const row of expired.incidentChanges) removeFromTimeline(tables.incidentChanges, row)
  for (const row of expired.incidentLog) removeFromTimeline(tables.incidentLog, row)
  for (const row of expired.alerts) removeInner(tables.alerts, row.incident_id, alertKey(row))
  for (const row of expired.incidents) tables.incidents.delete(row.id)
  for (const row of expired.audit) tables.audit.delete(row.id)
  for (const row of expired.silences) tables.silences.delete(row.id)
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
  audit: (piece) => first(oldAudit(tables, piece), piece.limit),
  silences: ({ before, limit }) =>
    first(
      Array.from(tables.silences.values()).flatMap(({ ends_at, id }) =>
        ends_at < before ? [{ key: id }] : [],
      ),
      limit,
    ),
})

/** Collects the rows to remove. */
const remove = (tables: MemoryTables, expired: ExpiredRows): RetentionTables<"now">["remove"] => {
  const noting =
    <Row>(noted: Array<Row>, rowsOf: (keys: ReadonlyArray<string>) => Iterable<Row>) =>
    (keys: ReadonlyArray<string>, limit: number): number => {
      const rows = first(rowsOf(keys), limit)
      noted.push(...rows)
      return rows.length
    }
  const removals = {
    checks_of_agents: noting(expired.checks, (keys) => rowsIn(tables.checks, keys)),
    expectations_of_agents: noting(expired.expectations, (keys) => rowsIn(tables.expectations, keys)),
    results_of_agents: noting(expired.history, (keys) => resultsOf(tables, keys)),
    agents: noting(expired.registrations, (keys) => keys.map((registration_id) => ({ registration_id }))),
    results: noting(expired.history, (keys) => rowsAt(tables.history, keys.map(Number))),
    notifications: noting(expired.outbox, (keys) => rowsAt<string, OutboxRecord>(tables.outbox, keys)),
    members: noting(expired.members, (keys) => rowsIn(tables.members, keys)),
    changes: noting(expired.incidentChanges, (keys) => rowsIn(tables.incidentChanges, keys)),
    log: noting(expired.incidentLog, (keys) => rowsIn(tables.incidentLog, keys)),
    alerts: noting(expired.alerts, (keys) => rowsIn(tables.alerts, keys)),
    incidents: noting(expired.incidents, (keys) => rowsAt<string, IncidentRecord>(tables.incidents, keys)),
    // The subjects of a row are part of it here.
    audit_subjects: () => 0,
    audit: noting(expired.audit, (keys) => rowsAt<string, AuditRecord>(tables.audit, keys)),
    silences: noting(expired.silences, (keys) => rowsAt<string, SilenceRecord>(tables.silences, keys)),
  }
  return (rows, keys, limit) => removals[rows](keys, limit)
}

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
  for (const item of tables.outbox.values()) {
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

function* oldAudit(tables: MemoryTables, { before }: RetentionPiece): Generator<RetentionFacts["audit"]> {
  for (const { id, recorded_at } of tables.audit.values()) if (recorded_at < before) yield { key: id }
}

const hasUnfinishedNotification = (tables: MemoryTables, id: IncidentId): boolean =>
  outboxOf(tables, id).some(isUnended)

import type { OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import { digits, type JsonRow, type Nullable } from "./JsonRow.ts"
import { selectList, type TableShape, updateStatement, upsertStatement } from "./tableStatements.ts"

const shape: TableShape<OutboxRecord> = {
  name: "outbox",
  key: ["id"],
  insertOrder: [],
  columns: {
    id: "text",
    notifier: "text",
    state: "text",
    incident_id: "text",
    event_type: "text",
    incident_seq: "int4",
    severity: "text",
    summary: "text",
    attempts: "int4",
    next_attempt_at: "int8",
    last_error: "text",
    leased_until: "int8",
    created_at: "int8",
    counts_from: "int8",
    updated_at: "int8",
  },
}

type OutboxRow = Nullable<OutboxRecord, "summary" | "next_attempt_at" | "last_error" | "leased_until">

/** Columns of an outbox item, of the table alias `o`. */
export const outboxColumns = selectList(shape.columns, "o")

/** Inserts outbox items. */
export const upsertOutbox = upsertStatement(shape)

/** Replaces outbox items; their incident's lock guards them. */
export const updateOutbox = updateStatement(shape)

/** Reads the outbox items of incidents, but for discarded ones. */
export const findOutboxOfIncidents: PgStatement = {
  name: "find_outbox_of_incidents",
  text: `SELECT ${outboxColumns} FROM outbox AS o WHERE o.incident_id = ANY($1) AND o.state <> 'discarded'`,
}

/** Reads a row that was selected by {@link outboxColumns}. */
export const decodeOutbox = (found: SqlConnection.Row): OutboxRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const row = found as unknown as OutboxRow
  return {
    ...row,
    summary: row.summary ?? undefined,
    next_attempt_at: row.next_attempt_at ?? undefined,
    last_error: row.last_error ?? undefined,
    leased_until: row.leased_until ?? undefined,
  }
}

/** An outbox item as the statements take it. */
export const encodeOutbox = (item: OutboxRecord): JsonRow<OutboxRecord> => ({
  ...item,
  next_attempt_at: digits(item.next_attempt_at),
  leased_until: digits(item.leased_until),
  created_at: digits(item.created_at),
  counts_from: digits(item.counts_from),
  updated_at: digits(item.updated_at),
})

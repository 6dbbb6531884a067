import type { OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import { STORAGE_TIME } from "../readStorageTime.ts"
import type { Nullable } from "./Nullable.ts"
import {
  insertStatement,
  selectList,
  type TableShape,
  updateStatement,
  upsertStatement,
} from "./TableShape.ts"

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

/** Inserts outbox items of new ids. */
export const insertOutbox = insertStatement(shape)

/** Inserts or replaces outbox items. */
export const upsertOutbox = upsertStatement(shape)

/** Replaces outbox items, which must be locked. */
export const updateOutbox = updateStatement(shape)

/** Locks the outbox items of incidents, but for discarded ones: claims change them without their incident's lock. */
export const lockOutboxOfIncidents: PgStatement = {
  name: "lock_outbox_of_incidents",
  text: `SELECT ${outboxColumns} FROM outbox AS o WHERE o.incident_id = ANY($1) AND o.state <> 'discarded'
         ORDER BY o.id FOR UPDATE`,
}

/** Locks outbox items by id. */
export const lockOutbox: PgStatement = {
  name: "lock_outbox",
  text: `SELECT ${outboxColumns} FROM outbox AS o WHERE o.id = ANY($1) ORDER BY o.id FOR UPDATE`,
}

/**
 * Locks what a claim takes, longest due first, passing over locked ones: items that are due by `$2` and behind no other of
 * their incident, and items that are being sent and whose lease has run out by the storage's clock. Each row tells that
 * clock's time; where nothing is found, one row tells nothing else. OFFSET 0 makes PostgreSQL read the clock once, and look
 * for earlier items one incident at a time.
 */
export const lockClaimableOutbox: PgStatement = {
  name: "lock_claimable_outbox",
  text: `SELECT storage.storage_time, found.*
         FROM (SELECT ${STORAGE_TIME} AS storage_time OFFSET 0) AS storage
         LEFT JOIN LATERAL (
           SELECT due.* FROM (
             SELECT claimable.*
             FROM unnest($1::text[]) AS wanted (notifier)
             CROSS JOIN LATERAL (
               SELECT ${outboxColumns} FROM outbox AS o
               WHERE o.notifier = wanted.notifier AND o.state IN ('pending', 'retry') AND o.next_attempt_at <= $2
                 AND EXISTS (SELECT FROM incident AS i WHERE i.id = o.incident_id)
                 AND NOT EXISTS (
                   SELECT FROM outbox AS earlier
                   WHERE earlier.incident_id = o.incident_id AND earlier.notifier = o.notifier
                     AND earlier.incident_seq < o.incident_seq
                     AND earlier.state NOT IN ('sent', 'failed', 'discarded')
                   OFFSET 0
                 )
               ORDER BY o.next_attempt_at LIMIT $3 FOR UPDATE OF o SKIP LOCKED
             ) AS claimable
             ORDER BY claimable.next_attempt_at LIMIT $3
           ) AS due
           UNION ALL
           SELECT expired.* FROM (
             SELECT ${outboxColumns} FROM outbox AS o
             WHERE o.notifier = ANY($1) AND o.state = 'sending' AND o.leased_until <= storage.storage_time
             ORDER BY o.leased_until LIMIT $3 FOR UPDATE SKIP LOCKED
           ) AS expired
         ) AS found ON true
         ORDER BY found.next_attempt_at, found.leased_until`,
}

/** Locks items that wait and were last touched before `$2`, and those whose lease ended before it, passing over locked ones. */
export const lockAbandonedOutbox: PgStatement = {
  name: "lock_abandoned_outbox",
  text: `SELECT waiting.* FROM (
           SELECT ${outboxColumns} FROM outbox AS o
           WHERE o.notifier = ANY($1) AND o.state IN ('pending', 'retry') AND o.updated_at < $2
           LIMIT $3 FOR UPDATE SKIP LOCKED
         ) AS waiting
         UNION ALL
         SELECT leased.* FROM (
           SELECT ${outboxColumns} FROM outbox AS o
           WHERE o.notifier = ANY($1) AND o.state = 'sending' AND o.leased_until < $2
           LIMIT $3 FOR UPDATE SKIP LOCKED
         ) AS leased`,
}

/** Reads the latest outbox items of an incident. */
export const findOutboxOfIncident: PgStatement = {
  name: "find_outbox_of_incident",
  text: `SELECT ${outboxColumns} FROM outbox AS o WHERE o.incident_id = $1
         ORDER BY o.incident_seq DESC, o.id DESC LIMIT $2`,
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

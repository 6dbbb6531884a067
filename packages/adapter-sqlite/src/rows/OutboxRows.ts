import type { IncidentId, OutboxId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { NotifierName } from "@tocsin/core/contract/Status"
import type { OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { type Column, RowWriter } from "./RowWriter.ts"

const KEY: ReadonlyArray<Column<OutboxRecord>> = [{ name: "id", of: (item) => item.id }]
const REST: ReadonlyArray<Column<OutboxRecord>> = [
  { name: "notifier", of: (item) => item.notifier },
  { name: "state", of: (item) => item.state },
  { name: "incident_id", of: (item) => item.incident_id },
  { name: "event_type", of: (item) => item.event_type },
  { name: "incident_seq", of: (item) => item.incident_seq },
  { name: "severity", of: (item) => item.severity },
  { name: "summary", of: (item) => item.summary },
  { name: "attempts", of: (item) => item.attempts },
  { name: "next_attempt_at", of: (item) => item.next_attempt_at },
  { name: "last_error", of: (item) => item.last_error },
  { name: "leased_until", of: (item) => item.leased_until },
  { name: "created_at", of: (item) => item.created_at },
  { name: "counts_from", of: (item) => item.counts_from },
  { name: "updated_at", of: (item) => item.updated_at },
]

/** The columns of an outbox item, in the order of {@link OutboxRow}. */
export const OUTBOX_COLUMNS = [...KEY, ...REST].map(({ name }) => name)

export type OutboxRow = readonly [
  id: OutboxId,
  notifier: OutboxRecord["notifier"],
  state: OutboxRecord["state"],
  incident_id: IncidentId,
  event_type: OutboxRecord["event_type"],
  incident_seq: bigint,
  severity: OutboxRecord["severity"],
  summary: string | null,
  attempts: bigint,
  next_attempt_at: Instant | null,
  last_error: string | null,
  leased_until: Instant | null,
  created_at: Instant,
  counts_from: Instant,
  updated_at: Instant,
]

/** The record of a row that `OUTBOX_COLUMNS` selected. */
export const toOutboxItem = (row: OutboxRow): OutboxRecord => ({
  id: row[0],
  notifier: row[1],
  state: row[2],
  incident_id: row[3],
  event_type: row[4],
  incident_seq: Number(row[5]),
  severity: row[6],
  summary: row[7] ?? undefined,
  attempts: Number(row[8]),
  next_attempt_at: row[9] ?? undefined,
  last_error: row[10] ?? undefined,
  leased_until: row[11] ?? undefined,
  created_at: row[12],
  counts_from: row[13],
  updated_at: row[14],
})

const SELECT = `SELECT ${OUTBOX_COLUMNS.join(", ")} FROM outbox`

const makeReads = (connection: SqliteConnection) => {
  const byId = connection.query<OutboxRow>(`${SELECT} WHERE id = ?`)
  const ofIncident = connection.query<OutboxRow>(`${SELECT} WHERE incident_id = ? AND state <> 'discarded'`)
  const latest = connection.query<OutboxRow>(
    `${SELECT} WHERE incident_id = ? ORDER BY incident_seq DESC, id DESC LIMIT ?`,
  )
  return {
    find: (id: OutboxId): OutboxRecord | undefined => {
      const row = byId.get(id)
      return row && toOutboxItem(row)
    },
    /** The items of an incident that are not discarded. */
    ofIncident: (id: IncidentId): ReadonlyArray<OutboxRecord> => ofIncident.all(id).map(toOutboxItem),
    /** The latest items of an incident, newest first. */
    latest: (id: IncidentId, limit: number): ReadonlyArray<OutboxRecord> =>
      latest.all(id, limit).map(toOutboxItem),
  }
}

const OF_NOTIFIERS = "notifier IN (SELECT value FROM json_each(?))"

const compareDue = (a: OutboxRow, b: OutboxRow): number => ((a[9] ?? 0n) < (b[9] ?? 0n) ? -1 : 1)

const makeSearches = (connection: SqliteConnection) => {
  const due = connection.query<OutboxRow>(
    `${SELECT} AS item WHERE notifier = ? AND state IN ('pending', 'retry') AND next_attempt_at <= ?
    AND EXISTS (SELECT 1 FROM incident WHERE incident.id = item.incident_id) AND NOT EXISTS (
      SELECT 1 FROM outbox AS earlier
      WHERE earlier.incident_id = item.incident_id AND earlier.incident_seq < item.incident_seq
        AND earlier.notifier = item.notifier AND earlier.state IN ('pending', 'sending', 'retry')
    ) ORDER BY next_attempt_at LIMIT ?`,
  )
  const expired = connection.query<OutboxRow>(
    `${SELECT} INDEXED BY outbox_leased WHERE state = 'sending' AND leased_until <= ? AND ${OF_NOTIFIERS}
    ORDER BY leased_until LIMIT ?`,
  )
  const abandoned = connection.query<OutboxRow>(
    `${SELECT} WHERE state IN ('pending', 'retry') AND ${OF_NOTIFIERS}
      AND event_type IN ('firing', 'resolved') AND updated_at < ? LIMIT ?`,
  )
  const nextDue = connection.query<[Instant | null]>(
    "SELECT min(next_attempt_at) FROM outbox WHERE notifier = ? AND state IN ('pending', 'retry') AND next_attempt_at > ?",
  )
  const nextExpiry = connection.query<[Instant]>(
    `SELECT leased_until FROM outbox INDEXED BY outbox_leased
    WHERE state = 'sending' AND leased_until > ? AND ${OF_NOTIFIERS} ORDER BY leased_until LIMIT 1`,
  )
  return {
    /** Items that are due and behind no earlier item of their incident and notifier, longest due first. */
    due: (notifiers: ReadonlyArray<NotifierName>, now: Instant, limit: number): ReadonlyArray<OutboxRecord> =>
      Array.from(new Set(notifiers))
        .flatMap((notifier) => due.all(notifier, now, limit))
        .toSorted(compareDue)
        .slice(0, limit)
        .map(toOutboxItem),
    /** Items whose lease ran out, first that which did so first. */
    expired: (
      notifiers: ReadonlyArray<NotifierName>,
      now: Instant,
      limit: number,
    ): ReadonlyArray<OutboxRecord> => expired.all(now, JSON.stringify(notifiers), limit).map(toOutboxItem),
    /** Items that wait and were last touched before `untouchedSince`, and those being sent whose lease ended before it. */
    abandoned: (
      notifiers: ReadonlyArray<NotifierName>,
      untouchedSince: Instant,
      limit: number,
    ): ReadonlyArray<OutboxRecord> => {
      const wanted = JSON.stringify(notifiers)
      const waiting = abandoned.all(wanted, untouchedSince, limit)
      // The moment itself is not before it.
      const leased = expired.all(untouchedSince - 1n, wanted, limit)
      return [...waiting, ...leased].map(toOutboxItem)
    },
    /** The moments after `now` at which an item of these notifiers is due or a lease on one runs out. */
    nextMoments: (notifiers: ReadonlyArray<NotifierName>, now: Instant): ReadonlyArray<Instant> => [
      ...notifiers.flatMap((notifier) => nextDue.get(notifier, now)?.[0] ?? []),
      ...(nextExpiry.get(now, JSON.stringify(notifiers)) ?? []),
    ],
  }
}

/** Table `outbox`. */
export const makeOutboxRows = (connection: SqliteConnection) => {
  const writer = new RowWriter<OutboxRecord>(connection, { table: "outbox", key: KEY, rest: REST })
  return {
    ...makeReads(connection),
    ...makeSearches(connection),
    write: (changes: ReadonlyArray<Change<OutboxRecord>>): void => writer.writeAll(changes),
  }
}

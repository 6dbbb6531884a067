import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { byDueTime } from "@tocsin/core/heart/model/outboxList"
import type { OutboxRecord, AlertRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { Asked } from "@tocsin/core/kernel/unitOfWork/Search"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeKeyedTable, type Table } from "./makeTable.ts"

type Receivers = ReadonlyArray<NotifierName>
type UnclaimedRequest = Asked<"unclaimedOutbox">
type Items = ReadonlyArray<OutboxRecord>

const OF_RECEIVERS = "receiver IN (SELECT value FROM json_each(?))"

const makeSearches = (connection: SqliteConnection, table: Table<OutboxRecord>) => {
  const due = table.all<[NotifierName, isBackfill: number, Instant, limit: number]>(
    `AS item WHERE receiver = ? AND is_backfill = ? AND state IN ('pending', 'retry') AND next_attempt_at <= ?
    AND EXISTS (SELECT 1 FROM incident WHERE incident.id = item.incident_id) AND NOT EXISTS (
      SELECT 1 FROM outbox AS earlier
      WHERE earlier.incident_id = item.incident_id AND (earlier.incident_seq, earlier.id) < (item.incident_seq, item.id)
        AND earlier.receiver = item.receiver AND earlier.state IN ('pending', 'sending', 'retry')
    ) ORDER BY next_attempt_at, id LIMIT ?`,
  )
  const expired = table.all<[Instant, receivers: string, limit: number]>(
    `INDEXED BY outbox_leased WHERE state = 'sending' AND leased_until <= ? AND ${OF_RECEIVERS}
    ORDER BY leased_until, id LIMIT ?`,
  )
  const held = connection.query<[IncidentId]>(
    `SELECT incident_id FROM outbox INDEXED BY outbox_held WHERE next_evaluation_at IS NOT NULL AND next_evaluation_at <= ?
    AND state IN ('pending', 'retry') AND ${OF_RECEIVERS} ORDER BY next_evaluation_at, id LIMIT ?`,
  )
  // One look into the index for each receiver.
  const waitingReceivers = connection.query<[NotifierName]>(
    `WITH RECURSIVE waiting (receiver) AS (
      SELECT min(receiver) FROM outbox INDEXED BY outbox_due WHERE state IN ('pending', 'retry')
      UNION ALL
      SELECT (SELECT min(receiver) FROM outbox INDEXED BY outbox_due
        WHERE state IN ('pending', 'retry') AND receiver > waiting.receiver)
      FROM waiting WHERE waiting.receiver IS NOT NULL
    )
    SELECT receiver FROM waiting WHERE receiver IS NOT NULL
    UNION ALL SELECT receiver FROM outbox INDEXED BY outbox_leased WHERE state = 'sending'`,
  )
  const unclaimed = table.all<[receivers: string, Instant, limit: number]>(
    // Named: SQLite might choose an index by state, which holds all that waits.
    `INDEXED BY outbox_due WHERE state IN ('pending', 'retry') AND ${OF_RECEIVERS}
      AND (receiver <> notifier OR updated_at < ?) LIMIT ?`,
  )
  const abandoned = table.all<[Instant, untouchedSince: Instant, receivers: string, limit: number]>(
    `INDEXED BY outbox_leased WHERE state = 'sending' AND leased_until < ?
      AND (receiver <> notifier OR leased_until < ?) AND ${OF_RECEIVERS} LIMIT ?`,
  )
  const nextDue = connection.query<[Instant | null]>(
    "SELECT min(next_attempt_at) FROM outbox WHERE receiver = ? AND is_backfill = ? AND state IN ('pending', 'retry') AND next_attempt_at > ?",
  )
  const nextExpiry = connection.query<[Instant]>(
    `SELECT leased_until FROM outbox INDEXED BY outbox_leased
    WHERE state = 'sending' AND leased_until > ? AND ${OF_RECEIVERS} ORDER BY leased_until LIMIT 1`,
  )
  return {
    /** Due items with no earlier item of their incident and receiver waiting, longest due first. */
    due: (receivers: Receivers, now: Instant, limit: number): Items =>
      Array.from(new Set(receivers))
        .flatMap((receiver) => [0, 1].flatMap((part) => due(receiver, part, now, limit)))
        .toSorted(byDueTime)
        .slice(0, limit),
    held: (receivers: Receivers, now: Instant, limit: number) =>
      held.all(now, JSON.stringify(receivers), limit).map(([incident_id]) => incident_id),
    /** Items whose lease has expired, the earliest first. */
    expired: (receivers: Receivers, now: Instant, limit: number): Items =>
      expired(now, JSON.stringify(receivers), limit),
    unclaimed: ({ listed, untouchedSince, limit }: UnclaimedRequest, now: Instant): Items => {
      const waiting = new Set(waitingReceivers.all().map(([receiver]) => receiver))
      const unlisted = JSON.stringify(Array.from(waiting).filter((receiver) => !listed.includes(receiver)))
      return [
        ...unclaimed(unlisted, untouchedSince, limit),
        ...abandoned(now, untouchedSince, unlisted, limit),
      ]
    },
    /** The next moments after `now` at which an item is due or a lease expires. */
    nextMoments: (receivers: Receivers, now: Instant): ReadonlyArray<Instant> => [
      ...receivers.flatMap((receiver) =>
        [0, 1].flatMap((part) => nextDue.get(receiver, part, now)?.[0] ?? []),
      ),
      ...(nextExpiry.get(now, JSON.stringify(receivers)) ?? []),
    ],
  }
}

export const makeOutboxTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "outbox")
  return {
    ...table,
    /** The items of an incident except those that were discarded untried (`isUntried`). */
    ofIncident: table.all<[IncidentId]>(
      "WHERE incident_id = ? AND (state <> 'discarded' OR discarded_because = 'shadowed' OR first_attempted_at IS NOT NULL)",
    ),
    latest: table.all<[IncidentId, limit: number]>(
      "WHERE incident_id = ? ORDER BY incident_seq DESC, id DESC LIMIT ?",
    ),
    ...makeSearches(connection, table),
  }
}

type Alerts = ReadonlyArray<AlertRecord>

export const makeAlertTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "alert")
  const claimable = table.all<[NotifierName, Instant, now: Instant, limit: number]>(
    `WHERE receiver = ? AND next_at <= ? AND (leased_until IS NULL OR leased_until <= ?)
    ORDER BY next_at, incident_id, severity LIMIT ?`,
  )
  const nextDue = connection.query<[Instant]>(
    `SELECT next_at FROM alert WHERE receiver = ? AND next_at > ?
      AND (leased_until IS NULL OR leased_until <= ?) ORDER BY next_at LIMIT 1`,
  )
  const nextExpiry = connection.query<[Instant]>(
    `SELECT leased_until FROM alert INDEXED BY alert_leased
    WHERE receiver = ? AND leased_until > ? ORDER BY leased_until LIMIT 1`,
  )
  return {
    ...table,
    ofIncident: table.all<[IncidentId]>("WHERE incident_id = ?"),
    claimable: ({ receiver, limit }: Asked<"claimableAlerts">, now: Instant): Alerts =>
      claimable(receiver, now, now, limit),
    nextMoments: (receivers: ReadonlyArray<NotifierName>, now: Instant): ReadonlyArray<Instant> =>
      receivers.flatMap((receiver) => [
        ...(nextDue.get(receiver, now, now) ?? []),
        ...(nextExpiry.get(receiver, now) ?? []),
      ]),
  }
}

import type { IncidentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { AlertRecord, AlertRef } from "@tocsin/core/notifications/OutboxRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { type Column, RowWriter } from "./RowWriter.ts"

const KEY: ReadonlyArray<Column<AlertRecord>> = [
  { name: "incident_id", of: (alert) => alert.incident_id },
  { name: "severity", of: (alert) => alert.severity },
]
const REST: ReadonlyArray<Column<AlertRecord>> = [
  { name: "next_at", of: (alert) => alert.next_at },
  { name: "ended_at", of: (alert) => alert.ended_at },
  { name: "leased_until", of: (alert) => alert.leased_until },
]
const COLUMNS = [...KEY, ...REST].map(({ name }) => name)

type AlertRow = readonly [
  incident_id: IncidentId,
  severity: AlertRecord["severity"],
  next_at: Instant,
  ended_at: Instant | null,
  leased_until: Instant | null,
]

const toAlert = (row: AlertRow): AlertRecord => ({
  incident_id: row[0],
  severity: row[1],
  next_at: row[2],
  ended_at: row[3] ?? undefined,
  leased_until: row[4] ?? undefined,
})

/** Table `alert`. Its `claimable_order` is the moment from which an alert can be claimed: due, and its lease over. */
export const makeAlertRows = (connection: SqliteConnection) => {
  const select = `SELECT ${COLUMNS.join(", ")} FROM alert`
  const byRef = connection.query<AlertRow>(`${select} WHERE incident_id = ? AND severity = ?`)
  const ofIncident = connection.query<AlertRow>(`${select} WHERE incident_id = ?`)
  const claimable = connection.query<AlertRow>(
    `${select} WHERE claimable_order <= ? ORDER BY claimable_order LIMIT ?`,
  )
  const next = connection.query<[Instant | null]>(
    "SELECT min(claimable_order) FROM alert WHERE claimable_order > ?",
  )
  const writer = new RowWriter<AlertRecord>(connection, { table: "alert", key: KEY, rest: REST })
  return {
    find: (ref: AlertRef): AlertRecord | undefined => {
      const row = byRef.get(ref.incident_id, ref.severity)
      return row && toAlert(row)
    },
    ofIncident: (id: IncidentId): ReadonlyArray<AlertRecord> => ofIncident.all(id).map(toAlert),
    claimable: (now: Instant, limit: number): ReadonlyArray<AlertRecord> =>
      claimable.all(now, limit).map(toAlert),
    /** The moments after `now` at which an alert can be claimed: the next one, if any. */
    nextMoments: (now: Instant): ReadonlyArray<Instant> => {
      const moment = next.get(now)?.[0]
      return moment === null || moment === undefined ? [] : [moment]
    },
    write: (change: Change<AlertRecord>): void => writer.write(change),
  }
}

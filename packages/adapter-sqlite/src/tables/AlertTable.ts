import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { NotifierName, Severity } from "@tocsin/contract/Status"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import {
  ALERT_ROUTER,
  type AlertRecord,
  type AlertRef,
  isOfAlertRouter,
} from "@tocsin/core/model/OutboxRecord"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable } from "./makeTable.ts"

type Alerts = ReadonlyArray<AlertRecord>

const withReceiver = (row: Omit<AlertRecord, "receiver">): AlertRecord => ({ receiver: ALERT_ROUTER, ...row })

/**
 * Tables `alert`, for the receiver `alert_router`, and `receiver_alert`, for all others. An alert can
 * be claimed from its `claimable_order` on: when it is due and not leased.
 */
export const makeAlertTables = (connection: SqliteConnection) => {
  const routers = makeTable(connection, storedTables.alert)
  const others = makeTable(connection, storedTables.receiver_alert)
  const find = routers.one<[IncidentId, Severity]>("WHERE incident_id = ? AND severity = ?")
  const findOther = others.one<[IncidentId, NotifierName, Severity]>(
    "WHERE incident_id = ? AND receiver = ? AND severity = ?",
  )
  const ofIncident = routers.all<[IncidentId]>("WHERE incident_id = ?")
  const othersOfIncident = others.all<[IncidentId]>("WHERE incident_id = ?")
  const claimable = routers.all<[Instant, limit: number]>(
    "WHERE claimable_order <= ? ORDER BY claimable_order LIMIT ?",
  )
  const othersClaimable = others.all<[NotifierName, Instant, limit: number]>(
    "WHERE receiver = ? AND claimable_order <= ? ORDER BY claimable_order LIMIT ?",
  )
  const next = connection.query<[Instant | null]>(
    "SELECT min(claimable_order) FROM alert WHERE claimable_order > ?",
  )
  const nextOther = connection.query<[Instant | null]>(
    "SELECT min(claimable_order) FROM receiver_alert WHERE receiver = ? AND claimable_order > ?",
  )
  return {
    find: (ref: AlertRef): AlertRecord | undefined => {
      if (!isOfAlertRouter(ref)) return findOther(ref.incident_id, ref.receiver, ref.severity)
      const row = find(ref.incident_id, ref.severity)
      return row && withReceiver(row)
    },
    ofIncident: (id: IncidentId): Alerts => [...ofIncident(id).map(withReceiver), ...othersOfIncident(id)],
    claimable: ({ receiver, limit }: NonNullable<RowRequest["claimableAlerts"]>, now: Instant): Alerts =>
      receiver === ALERT_ROUTER
        ? claimable(now, limit).map(withReceiver)
        : othersClaimable(receiver, now, limit),
    /** The next moment after `now` at which an alert of each receiver can be claimed, if there is one. */
    nextMoments: (receivers: ReadonlyArray<NotifierName>, now: Instant): ReadonlyArray<Instant> =>
      receivers.flatMap((receiver) => {
        const found = receiver === ALERT_ROUTER ? next.get(now) : nextOther.get(receiver, now)
        return found?.[0] ?? []
      }),
    write: (change: Change<AlertRecord>): void => {
      const row = change.after ?? change.before
      if (row === undefined || isOfAlertRouter(row)) routers.write(change)
      else others.write(change)
    },
  }
}

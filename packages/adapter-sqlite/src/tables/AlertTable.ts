import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import type { RowRequest } from "@tocsin/core/engine/unitOfWork/RowRequest"
import type { AlertRecord } from "@tocsin/core/model/OutboxRecord"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeKeyedTable } from "./makeKeyedTable.ts"

type Alerts = ReadonlyArray<AlertRecord>

/** An alert can be claimed from its `claimable_order` on: when it is due and not leased. */
export const makeAlertTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "alert")
  const claimable = table.all<[NotifierName, Instant, limit: number]>(
    "WHERE receiver = ? AND claimable_order <= ? ORDER BY claimable_order LIMIT ?",
  )
  const next = connection.query<[Instant | null]>(
    "SELECT min(claimable_order) FROM alert WHERE receiver = ? AND claimable_order > ?",
  )
  return {
    ...table,
    ofIncident: table.all<[IncidentId]>("WHERE incident_id = ?"),
    claimable: ({ receiver, limit }: NonNullable<RowRequest["claimableAlerts"]>, now: Instant): Alerts =>
      claimable(receiver, now, limit),
    /** The next moment after `now` at which an alert of each receiver can be claimed, if there is one. */
    nextMoments: (receivers: ReadonlyArray<NotifierName>, now: Instant): ReadonlyArray<Instant> =>
      receivers.flatMap((receiver) => next.get(receiver, now)?.[0] ?? []),
  }
}

import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { decodeAlert, lockAlerts } from "../tables/AlertTable.ts"
import { decodeOutbox, lockOutbox } from "../tables/OutboxTable.ts"

/** Brings outbox items and alerts by name into a workspace, locked, without their incidents. */
export const loadOutbox = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  workspace: Workspace,
  { outboxItems = [], alerts = [] }: RowRequest,
): Effect.fn.Return<void, SqlError.SqlError> {
  if (outboxItems.length > 0) {
    const rows = yield* pg.query(lockOutbox, [outboxItems])
    for (const item of rows.map(decodeOutbox)) workspace.outbox.load(item.id, item)
    for (const id of outboxItems) workspace.outbox.load(id, undefined)
  }
  if (alerts.length > 0) {
    const wanted = alerts.map(({ incident_id, severity }) => ({ incident_id, severity }))
    const rows = yield* pg.queryJson(lockAlerts, wanted)
    for (const alert of rows.map(decodeAlert)) workspace.alerts.load(alert, alert)
    for (const ref of alerts) workspace.alerts.load(ref, undefined)
  }
})

import type { WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { sqlError } from "../client/toSqlError.ts"
import { columnArrays } from "../tables/columnArrays.ts"
import { type NewRows, type Write, writesOf } from "./writesOf.ts"

/** Which transaction wrote, and in which run of the server: enough to ask afterwards whether it committed. */
export interface TransactionMark {
  readonly transaction_id: bigint
  readonly server_run: string
}

/**
 * Writes what a transaction changed: a statement a table and kind of change, always in the same order. Returns the
 * transaction's mark, `undefined` where nothing was to be written.
 */
export const persistChanges = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  changes: WorkspaceChanges,
  newRows: NewRows,
): Effect.fn.Return<TransactionMark | undefined, SqlError.SqlError> {
  let mark: TransactionMark | undefined
  for (const write of writesOf(changes, newRows)) {
    if (write.rows.length > 0) mark = yield* execute(pg, write)
  }
  return mark
})

const execute = Effect.fnUntraced(function* (pg: PgClient["Service"], { statement, rows, writes }: Write) {
  const [told] = yield* pg.query(statement, columnArrays(statement.columns, rows))
  // A row that is not as it was loaded was not locked well enough: better decided again than half written.
  if (writes === "each" && told?.["written"] !== rows.length) {
    return yield* sqlError("SerializationError", {
      message: `${statement.name} wrote ${String(told?.["written"])} of ${rows.length} rows`,
      operation: "execute",
    })
  }
  // What every write statement tells; see TableShape.
  return told as unknown as TransactionMark
})

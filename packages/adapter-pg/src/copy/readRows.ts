import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect, Stream } from "effect"
import type { SqlClient, SqlConnection } from "effect/sql"
import { toStorageError } from "../toStorageError.ts"
import { fromPostgres, selectionOf } from "./columnTypes.ts"
import type { CopiedRow, CopiedTable } from "@tocsin/core/ports/Copy"

const PIECE = 1_000

/** All rows of a table in the order of its key, in pieces, by a cursor of the transaction that is open. */
export const readRows = (
  sql: SqlClient.SqlClient,
  table: CopiedTable,
): Stream.Stream<ReadonlyArray<CopiedRow>, StorageError> => {
  const cursor = `tocsin_copy_${table.name}`
  const decode = fromPostgres(table)
  const fetch = sql.unsafe<SqlConnection.Row>(`FETCH ${PIECE} FROM ${cursor}`).pipe(
    Effect.flatMap((rows) =>
      rows.length > 0
        ? Effect.succeed([rows.map(decode), undefined] as const)
        : Effect.as(sql.unsafe(`CLOSE ${cursor}`), undefined),
    ),
    Effect.mapError(toStorageError),
  )
  return Stream.unwrap(
    sql
      .unsafe(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${selectionOf(table)}`)
      .pipe(Effect.as(Stream.unfold(undefined, () => fetch)), Effect.mapError(toStorageError)),
  )
}

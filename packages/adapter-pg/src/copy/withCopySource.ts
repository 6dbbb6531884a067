import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect, type Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { verifySchema } from "../migrations/migrate.ts"
import { toStorageError } from "../toStorageError.ts"
import type { CopySource } from "@tocsin/core/ports/Copy"
import { connectForCopy, inTransaction, readRows } from "./copyConnection.ts"

/**
 * Reads a database as of now, in one read-only transaction, while `use` runs. Refuses the schema of a
 * newer version, whose tables and columns a copy would omit.
 */
export const withCopySource = <A, E, R>(
  url: Redacted.Redacted,
  use: (source: CopySource) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  Effect.scoped(
    Effect.flatMap(connectForCopy(url), (database) =>
      inTransaction(
        database,
        "ISOLATION LEVEL REPEATABLE READ READ ONLY",
        Effect.andThen(
          verifySchema(database.sql),
          Effect.suspend(() => use(makeSource(database.sql))),
        ),
      ),
    ),
  ) as Effect.Effect<A, E | StorageError, R>

const makeSource = (sql: SqlClient.SqlClient): CopySource => ({
  count: ({ name }) =>
    sql.unsafe<{ count: bigint }>(`SELECT count(*) AS count FROM ${name}`).pipe(
      Effect.map(([row]) => Number(row?.count ?? 0n)),
      Effect.mapError(toStorageError),
    ),
  rows: (table) => readRows(sql, table),
  lastSeq: sql
    .unsafe<{ seq: bigint | null }>(
      `SELECT pg_sequence_last_value(pg_get_serial_sequence('check_event', 'seq')::regclass) AS seq`,
    )
    .pipe(
      Effect.map(([row]) => row?.seq ?? 0n),
      Effect.mapError(toStorageError),
    ),
})

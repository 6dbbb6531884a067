import type { StorageError } from "@tocsin/core/ports/Storage"
import { type AnyShape, type CopiedRow, jsonColumns } from "@tocsin/core/model/TableShape"
import { Effect, type Redacted, Stream } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { LONG_WORK } from "../client/PgPoolOptions.ts"
import { settingStatement } from "../client/script.ts"
import { connect, type Database } from "../Database.ts"
import { toStorageError } from "../toStorageError.ts"

/** The name of a copy in `pg_stat_activity`. It is not that of a server, which a copy looks for. */
const APPLICATION = "tocsin-copy"

/** One connection, until the scope ends. */
export const connectForCopy = (url: Redacted.Redacted) =>
  connect({ url, maxConnections: 1, applicationName: APPLICATION, replyTimeout: LONG_WORK })

const setPatience = settingStatement(
  { lock_timeout: "10000", statement_timeout: "0", idle_in_transaction_session_timeout: "0" },
  "transaction ends",
)

/**
 * Runs `use` in one transaction that may take hours, but waits for no lock longer than a service
 * would hold one. `mode` is how it begins, such as `ISOLATION LEVEL REPEATABLE READ`.
 */
export const inTransaction = <A, E, R>(
  { sql }: Database,
  mode: string,
  use: Effect.Effect<A, E | SqlError.SqlError, R>,
): Effect.Effect<A, E | StorageError, R> =>
  sql.withTransaction(Effect.andThen(sql.unsafe(setPatience), use)).pipe(
    Effect.provideService(SqlClient.BeginTransaction, `BEGIN ${mode}`),
    Effect.mapError((error) => (SqlError.isSqlError(error) ? toStorageError(error) : error)),
  )

const PIECE = 1_000

/** Reads all rows of a table in the order of its key, in pieces, by a cursor of the open transaction. */
export const readRows = (
  sql: SqlClient.SqlClient,
  shape: AnyShape,
): Stream.Stream<ReadonlyArray<CopiedRow>, StorageError> => {
  const { name, columns, key } = shape
  const cursor = `tocsin_copy_${name}`
  const names = Object.keys(columns)
  // JSON verbatim: the driver would parse it.
  const texts = new Set(jsonColumns(shape).map((column) => column.name))
  const selected = names.map((column) => (texts.has(column) ? `${column}::text AS ${column}` : column))
  const fetch = sql.unsafe<SqlConnection.Row>(`FETCH ${PIECE} FROM ${cursor}`).pipe(
    Effect.flatMap((rows) =>
      rows.length > 0
        ? Effect.succeed([rows.map(toCopied(names)), undefined] as const)
        : Effect.as(sql.unsafe(`CLOSE ${cursor}`), undefined),
    ),
    Effect.mapError(toStorageError),
  )
  return Stream.unwrap(
    sql
      .unsafe(
        `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${selected.join(", ")} FROM ${name} ORDER BY ${key.join(", ")}`,
      )
      .pipe(Effect.as(Stream.unfold(undefined, () => fetch)), Effect.mapError(toStorageError)),
  )
}

const toCopied =
  (names: ReadonlyArray<string>) =>
  (row: SqlConnection.Row): CopiedRow =>
    names.map((name) => {
      // The driver makes these of the types of columns, and numbers of small integers.
      const value = row[name] as string | bigint | boolean | number | null
      return typeof value === "number" ? BigInt(value) : value
    })

import { StorageError, type CopySource, type CopyTarget } from "@tocsin/core/kernel/ports/Storage"
import { type AnyShape, type CopiedRow, jsonColumns } from "@tocsin/core/kernel/model/TableShape"
import { Effect, type Redacted, Stream, Duration } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { LONG_WORK, settingStatement } from "../client/PgPoolOptions.ts"
import { connect, type Database, ADVISORY_LOCKS, readStorageTime } from "../Database.ts"
import { toStorageError } from "../toStorageError.ts"
import { verifySchema, applyMissing, verifyServer } from "../migrations/migrate.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { copiedTables, filledByStarts } from "@tocsin/core/lists/StoredTables"
import { quoted } from "../client/upstreamDefects.ts"
import { givenRows } from "../tables/makeTable.ts"

/** The name of a copy in `pg_stat_activity`. It is not that of a server, which a copy looks for. */
const APPLICATION = "tocsin-copy"

const setPatience = settingStatement(
  { lock_timeout: "10000", statement_timeout: "0", idle_in_transaction_session_timeout: "0" },
  "transaction ends",
)

/** Prepares and uses one connection, in a transaction that may take hours, and waits for no lock for long. */
const inTransaction = <A, E, R>(
  url: Redacted.Redacted,
  mode: string,
  prepare: (database: Database) => Effect.Effect<unknown, SqlError.SqlError | StorageError>,
  use: (database: Database) => Effect.Effect<A, E, R>,
) =>
  connect({ url, maxConnections: 1, applicationName: APPLICATION, replyTimeout: LONG_WORK }).pipe(
    Effect.flatMap((database) => {
      const { sql } = database
      const copying = Effect.andThen(
        prepare(database),
        Effect.suspend(() => use(database)),
      )
      return sql.withTransaction(Effect.andThen(sql.unsafe(setPatience), copying)).pipe(
        Effect.provideService(SqlClient.BeginTransaction, `BEGIN ${mode}`),
        Effect.mapError((error) => (SqlError.isSqlError(error) ? toStorageError(error) : error)),
      )
    }),
    Effect.scoped,
  ) as Effect.Effect<A, E | StorageError, R>

const PIECE = 1_000

/** Reads the rows of a table by key, in pieces, by a cursor of the open transaction. */
const readRows = (
  sql: SqlClient.SqlClient,
  shape: AnyShape,
  after?: bigint,
): Stream.Stream<ReadonlyArray<CopiedRow>, StorageError> => {
  const { name, columns, key } = shape
  const cursor = `tocsin_copy_${name}`
  const names = Object.keys(columns)
  // JSON verbatim: the driver would parse it.
  const texts = new Set(jsonColumns(shape).map((column) => column.name))
  const selected = names.map((column) =>
    columns[column]?.type === "bytes"
      ? `encode(${column}, 'hex') AS ${column}`
      : texts.has(column)
        ? `${column}::text AS ${column}`
        : column,
  )
  const fetch = sql.unsafe<SqlConnection.Row>(`FETCH ${PIECE} FROM ${cursor}`).pipe(
    Effect.flatMap((rows) =>
      rows.length > 0
        ? Effect.succeed([rows.map(toCopied(names)), undefined] as const)
        : Effect.as(sql.unsafe(`CLOSE ${cursor}`), undefined),
    ),
    Effect.mapError(toStorageError),
  )
  const above = after === undefined ? "" : `WHERE ${key.join(", ")} > ${after}`
  return Stream.unwrap(
    sql
      .unsafe(
        `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${selected.join(", ")} FROM ${name} ${above} ORDER BY ${key.join(", ")}`,
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

/** Reads a database as of now. Refuses a newer schema, of which a copy would omit columns. */
export const withCopySource = <A, E, R>(
  url: Redacted.Redacted,
  use: (source: CopySource) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  inTransaction(
    url,
    "ISOLATION LEVEL REPEATABLE READ READ ONLY",
    ({ sql }) => verifySchema(sql),
    ({ sql }) => use(makeSource(sql)),
  )

const makeSource = (sql: SqlClient.SqlClient): CopySource => ({
  count: ({ name }) =>
    sql.unsafe<{ count: bigint }>(`SELECT count(*) AS count FROM ${name}`).pipe(
      Effect.map(([row]) => Number(row?.count ?? 0n)),
      Effect.mapError(toStorageError),
    ),
  rows: (table, after) => readRows(sql, table, after),
  lastSeq: sql
    .unsafe<{ seq: bigint | null }>(
      `SELECT pg_sequence_last_value(pg_get_serial_sequence('check_event', 'seq')::regclass) AS seq`,
    )
    .pipe(
      Effect.map(([row]) => row?.seq ?? 0n),
      Effect.mapError(toStorageError),
    ),
})

/**
 * Fills a database with the rows that `use` writes, schema included, in one transaction: an
 * interrupted run leaves nothing, and the next one starts over. Servers that start on the database
 * wait for the end. Fails with `in_use` where the database has data, a server uses it, or another
 * copy into it is running.
 */
export const withCopyTarget = <A, E, R>(
  url: Redacted.Redacted,
  use: (target: CopyTarget) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  inTransaction(url, "", prepare, (database) => use(makeTarget(database)))

const inUse = (message: string): StorageError => new StorageError({ reason: "in_use", message })

// The lock of migrations: servers that start wait for it.
const LOCK = `SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.migrations}) AS is_free`

/** Servers leave a service heartbeat every five seconds. An older one is that of a server that ended. */
const MARKED_LATELY = Duration.seconds(30)

const prepare = Effect.fnUntraced(function* ({ sql, pg }: Database) {
  const [lock] = yield* sql.unsafe<{ is_free: boolean }>(LOCK)
  if (lock?.is_free !== true) {
    return yield* inUse(
      "another process is copying into the database or migrating it: wait until it finishes",
    )
  }
  yield* verifyServer(sql)
  yield* requireNoConnection(sql)
  // A migration would hold up a server that only its service heartbeat shows.
  if ((yield* verifySchema(sql)) !== undefined) yield* requireNoServiceHeartbeat({ sql, pg })
  yield* applyMissing(sql)
  yield* sql.unsafe(`LOCK TABLE ${copiedTables.map(({ name }) => name).join(", ")} IN ACCESS EXCLUSIVE MODE`)
  yield* requireNoServiceHeartbeat({ sql, pg })
  for (const { name } of copiedTables) {
    if (filledByStarts.has(name)) {
      yield* sql.unsafe(`DELETE FROM ${name}`)
      continue
    }
    const [row] = yield* sql.unsafe<{ holds: boolean }>(`SELECT EXISTS (SELECT FROM ${name}) AS holds`)
    if (row?.holds !== true) continue
    return yield* inUse(
      `the database already contains data (table ${name}): name an empty database, or empty this one`,
    )
  }
})

const STOP_SERVERS = "a server is using the database: stop it, and start it again after the copy"

/** The name of a connection identifies a server, as far as this user may see it. */
const requireNoConnection = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [servers] = yield* sql<{ count: bigint }>`
    SELECT count(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tocsin' AND pid <> pg_backend_pid()
  `.unprepared
  if (servers !== undefined && servers.count > 0n) return yield* inUse(STOP_SERVERS)
})

const requireNoServiceHeartbeat = Effect.fnUntraced(function* ({ sql, pg }: Database) {
  const now = yield* readStorageTime(pg)
  const [serviceHeartbeat] = yield* sql<{ beat_at: bigint }>`SELECT beat_at FROM service_heartbeat`.unprepared
  if (serviceHeartbeat !== undefined && serviceHeartbeat.beat_at > Instant.minus(now, MARKED_LATELY))
    return yield* inUse(STOP_SERVERS)
})

const insertionOf = ({ name, columns }: AnyShape): string => {
  const names = Object.keys(columns).join(", ")
  return `INSERT INTO ${name} (${names}) OVERRIDING SYSTEM VALUE SELECT ${names} FROM ${givenRows(columns)}`
}

const arraysOf = ({ columns }: AnyShape, rows: ReadonlyArray<CopiedRow>): ReadonlyArray<string> =>
  Object.values(columns).map(({ type }, index) => {
    const mark = type === "bytes" ? "\\x" : ""
    const elements = rows.map((row) => (row[index] === null ? "NULL" : quoted(`${mark}${row[index]}`)))
    return `{${elements.join(",")}}`
  })

const makeTarget = ({ sql, pg }: Database): CopyTarget => ({
  write: (table, rows) =>
    pg.query(insertionOf(table), arraysOf(table, rows)).pipe(Effect.asVoid, Effect.mapError(toStorageError)),
  rows: (table) => readRows(sql, table),
  setLastSeq: (seq) =>
    Effect.gen(function* () {
      if (seq > 0n) yield* sql`SELECT setval(pg_get_serial_sequence('check_event', 'seq'), ${seq})`
      yield* sql`SELECT setval(pg_get_serial_sequence('number_series', 'id'), max(id)) FROM number_series HAVING count(*) > 0`
    }).pipe(Effect.mapError(toStorageError)),
})

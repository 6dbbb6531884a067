import * as Instant from "@tocsin/contract/Instant"
import { StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect, type Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { ADVISORY_LOCKS } from "../advisoryLocks.ts"
import type { Database } from "../Database.ts"
import { applyMissing, verifySchema, verifyServer } from "../migrations/migrate.ts"
import { readStorageTime } from "../readStorageTime.ts"
import { toStorageError } from "../toStorageError.ts"
import { copiedTables } from "@tocsin/core/model/StoredTables"
import type { AnyShape, CopiedRow } from "@tocsin/core/model/TableShape"
import { givenRows, quoted } from "../tables/makeTable.ts"
import { connectForCopy, inTransaction, readRows } from "./copyConnection.ts"
import type { CopyTarget } from "@tocsin/core/ports/Copy"

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
  Effect.scoped(
    Effect.flatMap(connectForCopy(url), (database) =>
      inTransaction(
        database,
        "",
        Effect.andThen(
          prepare(database),
          Effect.suspend(() => use(makeTarget(database))),
        ),
      ),
    ),
  ) as Effect.Effect<A, E | StorageError, R>

const inUse = (message: string): StorageError => new StorageError({ reason: "in_use", message })

// The lock of migrations: servers that start wait for it.
const LOCK = `SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.migrations}) AS is_free`

/** Servers leave a service heartbeat every five seconds. An older one is that of a server that ended. */
const MARKED_LATELY = Duration.seconds(30)

/** Every first start fills these tables. They are no reason to refuse, and are overwritten. */
const LEFT_BY_STARTS: ReadonlyArray<string> = ["established", "service_heartbeat", "replica"]

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
    if (LEFT_BY_STARTS.includes(name)) {
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

/** Inserts rows with the numbers that they bring, one array literal a column. */
const insertionOf = ({ name, columns }: AnyShape): string => {
  const names = Object.keys(columns).join(", ")
  return `INSERT INTO ${name} (${names}) OVERRIDING SYSTEM VALUE SELECT ${names} FROM ${givenRows(columns)}`
}

const arraysOf = ({ columns }: AnyShape, rows: ReadonlyArray<CopiedRow>): ReadonlyArray<string> =>
  Object.keys(columns).map((_, index) => {
    const elements = rows.map((row) => (row[index] === null ? "NULL" : quoted(String(row[index]))))
    return `{${elements.join(",")}}`
  })

const makeTarget = ({ sql, pg }: Database): CopyTarget => ({
  write: (table, rows) =>
    pg.query(insertionOf(table), arraysOf(table, rows)).pipe(Effect.asVoid, Effect.mapError(toStorageError)),
  rows: (table) => readRows(sql, table),
  setLastSeq: (seq) =>
    seq === 0n
      ? Effect.void
      : Effect.asVoid(
          Effect.mapError(
            sql`SELECT setval(pg_get_serial_sequence('check_event', 'seq'), ${seq})`,
            toStorageError,
          ),
        ),
})

import * as Instant from "@tocsin/core/contract/Instant"
import { StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { scriptOf, settingStatement } from "./client/script.ts"
import { announceMigrations, type Migration } from "@tocsin/core/ports/Migration"
import { checksumOf } from "./checksumOf.ts"
import { migration as initial } from "./migrations/0001_initial.ts"
import { migration as runningTotals } from "./migrations/0002_running_totals.ts"
import { isLostRace, toStorageError } from "./toStorageError.ts"

/** Every step from an empty database to the present schema; append-only. */
export const migrations: ReadonlyArray<Migration> = [initial, runningTotals]

/** The oldest PostgreSQL that the statements are tested with, as `server_version_num`. */
const OLDEST_SERVER = 150_000

/**
 * Longer than a migration of a large database takes, so that replicas that start together wait for the one that migrates;
 * short enough that whoever starts them learns what is wrong.
 */
const PATIENCE = Duration.minutes(2)

const setPatience = (patience: Duration.Duration): string =>
  settingStatement(
    {
      lock_timeout: String(Math.ceil(Duration.toMillis(patience))),
      statement_timeout: "0",
      idle_in_transaction_session_timeout: "0",
    },
    "transaction ends",
  )

/** Whatever the server's default is: only so a process that waited for the lock sees what the one before it did. */
const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"

/** A process of the former release may hold what a migration locks, and wait for what it has locked. */
const RETRIES_OF_DEADLOCKS = 5

// The number is any that nothing else locks.
const LOCK = "SELECT pg_advisory_xact_lock(7243197000)"

const CREATE_LEDGER = `CREATE TABLE schema_migration (
  id integer PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  checksum text COLLATE "C" NOT NULL,
  applied_at bigint NOT NULL
)`

const migrating = new StorageError({
  reason: "in_use",
  message:
    "another process has been migrating the database for minutes: wait until it finishes, then start again",
})

const newer = new StorageError({
  reason: "newer",
  message:
    "the database was written by a newer version of Tocsin: start that version or a later one, or restore the backup from before its upgrade",
})

const foreign = ({ id, name }: Migration): StorageError =>
  new StorageError({
    reason: "other",
    message: `the database has a different version of migration ${id} (${name}): start the build of Tocsin that created it, or restore a backup`,
  })

/** Refuses servers that would fail later, or spoil text. */
const verifyServer = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [server] = yield* sql<{ version: number; encoding: string }>`
    SELECT current_setting('server_version_num')::int4 AS version, current_setting('server_encoding') AS encoding
  `.unprepared
  if (server === undefined || server.version < OLDEST_SERVER) {
    return yield* new StorageError({
      reason: "other",
      message: `this version of PostgreSQL is too old: upgrade it to ${OLDEST_SERVER / 10_000} or later`,
    })
  }
  if (server.encoding !== "UTF8") {
    return yield* new StorageError({
      reason: "other",
      message: `the database's encoding is ${server.encoding}: recreate the database with ENCODING 'UTF8'`,
    })
  }
})

/** How many of the migrations the database went through, `undefined` where it has not heard of any. Writes nothing. */
const verifySchema = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, known: ReadonlyArray<Migration>) {
  // From pg_class, because to_regclass alone may answer from what this connection knew before it waited for the lock.
  const [ledger] = yield* sql<{ exists: boolean }>`
    SELECT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('schema_migration')) AS exists
  `.unprepared
  if (ledger?.exists !== true) return undefined
  const applied = yield* sql<{ id: number; checksum: string }>`
    SELECT id, checksum FROM schema_migration ORDER BY id
  `.unprepared
  for (const [index, { id, checksum }] of applied.entries()) {
    const migration = known[index]
    if (migration?.id !== id) return yield* newer
    if (checksum !== checksumOf(migration)) return yield* foreign(migration)
  }
  return applied.length
})

/**
 * Keeps writers out of all tables at once, before a migration changes the first of them: with one after the other, writers
 * that are under way would end in deadlocks with it. Readers go on.
 */
const lockTables = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const tables = yield* sql<{ name: string }>`
    SELECT oid::regclass::text AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('schema_migration'))
      AND pg_has_role(relowner, 'USAGE')
    ORDER BY relname
  `.unprepared
  yield* sql.unsafe(`LOCK TABLE ${tables.map(({ name }) => name).join(", ")} IN EXCLUSIVE MODE`)
})

/** How to migrate, for tests. */
interface MigrateOptions {
  readonly known?: ReadonlyArray<Migration>
  /** The longest wait for another process that migrates. */
  readonly patience?: Duration.Duration
}

/**
 * Brings the database to the present schema, in one transaction. A process that starts at the same moment waits for the
 * lock and then finds nothing left to do. A database that is up to date is only read. Fails with `newer` where it went
 * through migrations that this code does not know, and with `in_use` where another process migrates for too long.
 */
export const migrate = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, { known = migrations, patience = PATIENCE }: MigrateOptions = {}) {
    yield* verifyServer(sql)
    const found = yield* verifySchema(sql, known)
    if (found === known.length) return
    if (found !== undefined) yield* announceMigrations(known.slice(found))
    const now = yield* Instant.now
    const migrateLocked = Effect.gen(function* () {
      yield* sql.unsafe(setPatience(patience))
      yield* sql.unsafe(LOCK)
      const applied = yield* verifySchema(sql, known)
      if (applied === known.length) return
      if (applied === undefined) yield* sql.unsafe(CREATE_LEDGER)
      else yield* lockTables(sql)
      for (const migration of known.slice(applied ?? 0)) {
        yield* sql.unsafe(scriptOf(migration.sql))
        const row = {
          id: migration.id,
          name: migration.name,
          checksum: checksumOf(migration),
          applied_at: now,
        }
        yield* sql`INSERT INTO schema_migration ${sql.insert(row)}`
      }
    })
    yield* sql.withTransaction(migrateLocked).pipe(
      Effect.provideService(SqlClient.BeginTransaction, BEGIN),
      Effect.retry({
        times: RETRIES_OF_DEADLOCKS,
        while: (error) => error._tag === "SqlError" && isLostRace(error),
      }),
    )
  },
  Effect.catchTag("SqlError", (error) =>
    Effect.fail(error.reason._tag === "LockTimeoutError" ? migrating : toStorageError(error)),
  ),
)

import { hash } from "node:crypto"
import * as Instant from "@tocsin/core/contract/Instant"
import {
  announceMigrations,
  type AppliedMigration,
  compareSchema,
  type Migration,
  schemaRefusal,
} from "@tocsin/core/ports/Migration"
import { StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { scriptOf, settingStatement } from "../client/script.ts"
import { isLostRace, toStorageError } from "../toStorageError.ts"
import { migration as initial } from "./0001_initial.ts"
import { migration as runningTotals } from "./0002_running_totals.ts"
import { migration as receivers } from "./0003_receivers.ts"
import { migration as operators } from "./0004_operators.ts"
import { migration as acknowledgements } from "./0005_acknowledgements.ts"
import { migration as timers } from "./0006_timers.ts"
import { migration as expectations } from "./0007_expectations.ts"
import { migration as acknowledgedIncidents } from "./0008_acknowledged_incidents.ts"
import { migration as audit } from "./0009_audit.ts"
import { migration as silences } from "./0010_silences.ts"
import { migration as replicas } from "./0011_replicas.ts"
import { migration as signedMarks } from "./0012_signed_marks.ts"
import { migration as receiverAlerts } from "./0013_receiver_alerts.ts"
import { migration as openIncidents } from "./0014_open_incidents.ts"
import { migration as resolvedBy } from "./0015_resolved_by.ts"

/** Every step from an empty database to the present schema; append-only. */
export const migrations: ReadonlyArray<Migration> = [
  initial,
  runningTotals,
  receivers,
  operators,
  acknowledgements,
  timers,
  expectations,
  acknowledgedIncidents,
  audit,
  silences,
  replicas,
  signedMarks,
  receiverAlerts,
  openIncidents,
  resolvedBy,
]

/** Identifies the very form of a migration: SHA-256 of its statements. */
export const checksumOf = ({ sql }: Migration): string => hash("sha256", sql)

/** The oldest PostgreSQL that the statements are tested with, as `server_version_num`. */
const OLDEST_SERVER = 150_000

/** Longer than the migration of a large database takes: replicas that start together wait for it. */
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

/** At any other level, a process that waited for the lock would not see the tables of the first. */
const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"

/** A process of the previous release may lock rows that a migration waits for, and the reverse. */
const RETRIES_OF_DEADLOCKS = 5

// Nothing else locks this number.
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

/** Refuses servers that would fail later, or corrupt text. */
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

/** How many migrations the database went through; `undefined` where it has no ledger of them. */
const verifySchema = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, known: ReadonlyArray<Migration>) {
  // From pg_class: to_regclass alone may answer as of before this connection waited for the lock.
  const [ledger] = yield* sql<{ exists: boolean }>`
    SELECT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('schema_migration')) AS exists
  `.unprepared
  if (ledger?.exists !== true) return undefined
  const standing = compareSchema(yield* readLedger(sql), known, checksumOf)
  const refusal = schemaRefusal(standing, "the database")
  return refusal === undefined ? standing.applied : yield* refusal
})

/** The migrations that the database went through. */
export const readLedger = (sql: SqlClient.SqlClient) =>
  sql<AppliedMigration>`SELECT id, checksum FROM schema_migration ORDER BY id`.unprepared

/**
 * Locks all tables against writers before a migration changes the first: locked one by one, they
 * would end in deadlocks with running writers. Readers continue.
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
 * Migrates the database to the present schema, in one transaction. A process that starts at the same
 * time waits for the lock, and then finds nothing left to do. An up-to-date database is only read.
 * Fails with `newer` for migrations that this code does not know, and with `in_use` where another
 * process migrates for too long.
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

import { hash } from "node:crypto"
import * as Instant from "@tocsin/contract/formats/Instant"
import { copiedTables } from "@tocsin/core/lists/StoredTables"
import {
  announceMigrations,
  type AppliedMigration,
  compareSchema,
  type Migration,
  schemaRefusal,
} from "@tocsin/core/kernel/ports/Migration"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Duration, Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { scriptOf, settingStatement } from "../client/PgPoolOptions.ts"
import { ADVISORY_LOCKS } from "../Database.ts"
import * as RealTime from "../RealTime.ts"
import { hiddenRows, isLostRace, toStorageError } from "../toStorageError.ts"
import { type AwaitOptions, awaitServers } from "./awaitServers.ts"
import { advanceSequences } from "./sequences.ts"
import { migration as first } from "./0001_first.ts"
import { migration as acceptancesLeave } from "./0002_acceptances_leave.ts"
import { migration as separateTables } from "./0003_separate_tables.ts"
import { migration as mailRecipients } from "./0004_mail_recipients.ts"
import { migration as watchHeaders } from "./0005_watch_headers.ts"
import { migration as agentProcesses } from "./0006_agent_processes.ts"
import { migration as episodes } from "./0007_episodes.ts"
import { migration as resolvedIncidents } from "./0008_resolved_incidents.ts"
import { migration as lateChecks } from "./0009_late_checks.ts"
import { migration as browsers } from "./0010_browsers.ts"
import { migration as mails } from "./0011_mails.ts"
import { migration as resolutions } from "./0012_resolutions.ts"
import { migration as knownNames } from "./0013_known_names.ts"
import { migration as withdrawnChecks } from "./0014_withdrawn_checks.ts"
import { migration as titles } from "./0015_titles.ts"
import { migration as settings } from "./0016_settings.ts"
import { migration as places } from "./0017_places.ts"
import { migration as invitations } from "./0018_invitations.ts"
import { migration as moreTitles } from "./0019_more_titles.ts"
import { migration as monthlyReports } from "./0020_monthly_reports.ts"
import { migration as floodMinutes } from "./0021_flood_minutes.ts"
import { migration as sendingLeaves } from "./0022_sending_leaves.ts"

/** Every step from an empty database to the present schema; append-only. */
export const migrations: ReadonlyArray<Migration> = [
  first,
  acceptancesLeave,
  separateTables,
  mailRecipients,
  watchHeaders,
  agentProcesses,
  episodes,
  resolvedIncidents,
  lateChecks,
  browsers,
  mails,
  resolutions,
  knownNames,
  withdrawnChecks,
  titles,
  settings,
  places,
  invitations,
  moreTitles,
  monthlyReports,
  floodMinutes,
  sendingLeaves,
]

/** Identifies the very form of a migration: SHA-256 of its statements. */
export const checksumOf = ({ sql }: Migration): string => hash("sha256", sql)

/** Longer than the migration of a large database takes: replicas that start together wait for it. */
const PATIENCE = Duration.minutes(2)

/** How long requests wait behind an attempt. PostgreSQL cancels an autovacuum in the way after 1 s. */
const ATTEMPT = Duration.seconds(2)

/** Between two attempts, servers work off the requests that waited. */
const REST = Duration.seconds(6)

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

const LOCK = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.migrations})`

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

const WAITING =
  "another session holds a lock on Tocsin's tables, such as pg_dump: the migration waits until it ends"

const locked = new StorageError({
  reason: "in_use",
  message:
    "another session holds a lock on Tocsin's tables, such as pg_dump: wait until it ends, then start again",
})

const OWN_TABLES = ["schema_migration", "system_total", "listed_member"]
const tableNames = [...copiedTables.map(({ name }) => name), ...OWN_TABLES]

export const ownedByOthers = (names: ReadonlyArray<string>) =>
  new StorageError({
    reason: "other",
    message: `other roles own ${names.join(", ")}: make the user in the database URL the owner (ALTER TABLE … OWNER TO …), and of Tocsin's functions too`,
  })

/** The service's tables that are there, and whether the user owns them. */
export const findTables = (sql: SqlClient.SqlClient) =>
  sql<{ name: string; is_owned: boolean }>`
    SELECT oid::regclass::text AS name, pg_has_role(relowner, 'USAGE') AS is_owned FROM pg_class
    WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('schema_migration'))
      AND ${sql.in("relname", tableNames)}
    ORDER BY relname
  `.unprepared

/** Those that other roles own, which a migration cannot change. */
export const foreignAmong = (
  tables: ReadonlyArray<{ readonly name: string; readonly is_owned: boolean }>,
): ReadonlyArray<string> => tables.filter(({ is_owned }) => !is_owned).map(({ name }) => name)

/** Refuses a database whose policies hide rows from this user: each statement would fail when it is first used. */
export const verifyRows = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const hidden = yield* sql`
    SELECT FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
      AND ${sql.in("relname", tableNames)} AND row_security_active(oid)
  `.unprepared
  if (hidden.length > 0) return yield* hiddenRows
})

/** Refuses servers that would fail later, or corrupt text. */
export const verifyServer = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [server] = yield* sql<{ encoding: string }>`
    SELECT current_setting('server_encoding') AS encoding
  `.unprepared
  if (server !== undefined && server.encoding !== "UTF8") {
    return yield* new StorageError({
      reason: "other",
      message: `the database's encoding is ${server.encoding}: recreate the database with ENCODING 'UTF8'`,
    })
  }
})

/** How many migrations the database went through. Fails for a schema of a newer version or another build. */
export const verifySchema = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  known: ReadonlyArray<Migration> = migrations,
) {
  // From pg_class: to_regclass alone may answer as of before this connection waited for the lock.
  const [ledger] = yield* sql<{ exists: boolean }>`
    SELECT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('schema_migration')) AS exists
  `.unprepared
  if (ledger?.exists !== true) return undefined
  const standing = compareSchema(yield* readLedger(sql), known, checksumOf)
  const refusal = schemaRefusal(standing, "the database")
  return refusal === undefined ? standing.applied : yield* refusal
})

export const readLedger = (sql: SqlClient.SqlClient) =>
  sql<AppliedMigration>`SELECT id, checksum FROM schema_migration ORDER BY id`.unprepared

/**
 * Locks all tables before a migration changes the first: one by one, they would end in deadlocks with writers.
 * Each attempt is short, because requests wait behind it for long readers.
 */
const lockTables = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { patience = PATIENCE, attempt = ATTEMPT, rest = REST }: MigrateOptions,
) {
  const tables = yield* findTables(sql)
  const foreign = foreignAmong(tables)
  if (foreign.length > 0) return yield* ownedByOthers(foreign)
  const names = tables.map(({ name }) => name).join(", ")
  const lock = sql.withTransaction(
    Effect.andThen(
      sql.unsafe(setPatience(attempt)),
      sql.unsafe(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`),
    ),
  )
  const isOver = yield* RealTime.stopwatch(patience)
  for (let made = 1; ; made++) {
    const result = yield* Effect.result(lock)
    if (Result.isSuccess(result)) return
    const error = result.failure
    if (error.reason._tag !== "LockTimeoutError" && !isLostRace(error)) return yield* error
    if (isOver()) return yield* locked
    if (made === 1) yield* Effect.logWarning(WAITING)
    yield* RealTime.pause(rest)
  }
})

/** How to migrate, for tests. */
interface MigrateOptions extends AwaitOptions {
  readonly known?: ReadonlyArray<Migration>
  /** The longest wait for another process that migrates, and then for all attempts to lock the tables. */
  readonly patience?: Duration.Duration
  readonly attempt?: Duration.Duration
}

/** Runs what is missing, in an open transaction that has the lock of migrations. */
export const applyMissing = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  options: MigrateOptions = {},
) {
  const { known = migrations } = options
  const applied = yield* verifySchema(sql, known)
  if (applied === known.length) return
  if (applied === undefined) yield* sql.unsafe(CREATE_LEDGER)
  else yield* lockTables(sql, options)
  const now = yield* Instant.now
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

/**
 * Migrates the database in one transaction, for which a process that starts at the same time waits. Fails with `newer`
 * for unknown migrations, and with `in_use` where another one migrates or reads for too long. */
export const migrate = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, options: MigrateOptions = {}) {
  const { known = migrations, patience = PATIENCE } = options
  // An earlier schema lacks tables that have a sequence.
  const advance = known.length < migrations.length ? Effect.void : advanceSequences(sql)
  yield* verifyServer(sql)
  yield* verifyRows(sql)
  const found = yield* verifySchema(sql, known)
  if (found === known.length) return yield* advance
  if (found !== undefined) {
    const missing = known.slice(found)
    yield* announceMigrations(missing)
    if (missing.some(({ compatibility }) => compatibility === "breaking")) yield* awaitServers(sql, options)
  }
  const locking = Effect.andThen(sql.unsafe(setPatience(patience)), sql.unsafe(LOCK)).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "LockTimeoutError",
      () => Effect.fail(migrating),
    ),
  )
  yield* sql
    .withTransaction(Effect.andThen(locking, applyMissing(sql, options)))
    .pipe(Effect.provideService(SqlClient.BeginTransaction, BEGIN))
  yield* advance
}, Effect.mapError(toStorageError))

import * as Instant from "@tocsin/contract/formats/Instant"
import { copiedTables, FIND_WRONG_TOTALS } from "@tocsin/core/lists/StoredTables"
import { damagedValue, jsonColumns, MOST_DAMAGED } from "@tocsin/core/kernel/model/TableShape"
import { compareSchema, type SchemaStanding } from "@tocsin/core/kernel/ports/Migration"
import { Clock, Duration, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgPoolOptions } from "../client/PgPoolOptions.ts"
import {
  checksumOf,
  findTables,
  foreignAmong,
  migrations,
  readLedger,
  verifyRows,
} from "../migrations/migrate.ts"
import { findBehind } from "../migrations/sequences.ts"
import { readStorageTime, connect } from "../Database.ts"
import { noSchema, toStorageError } from "../toStorageError.ts"

export const SHORT = { connectTimeout: Duration.seconds(5), statementTimeout: Duration.seconds(5) }

/** One connection for an inspection, which waits 5 s for it and for each answer. */
const connectForInspection = (options: PgPoolOptions) => connect({ ...options, ...SHORT, maxConnections: 1 })

/** How many connections the user may have: of the server, of the database and of the role, the least. */
const readConnectionLimit = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  // reserved_connections is from PostgreSQL 16 on; a limit of -1 is none, and least ignores NULL.
  const [row] = yield* sql<{ readonly allowed: number }>`
    SELECT least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
      (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
    ) AS allowed
  `.unprepared
  return row?.allowed ?? 0
})

export const inspectConnections = Effect.fn("inspectConnections")(
  function* (options: PgPoolOptions) {
    const { sql } = yield* connectForInspection(options)
    return yield* readConnectionLimit(sql)
  },
  Effect.scoped,
  Effect.mapError(toStorageError),
)

export interface PgInspection {
  /** `foreign`: created by another program, or by another form of a migration. */
  readonly schema: "absent" | SchemaStanding["state"]
  readonly applied: number
  readonly known: number
  /** Such as `18.1`. */
  readonly serverVersion: string
  /** A standby, or read-only by its settings. */
  readonly isReadOnly: boolean
  /** Whether the user of the URL may create tables, which a migration does. */
  readonly mayCreate: boolean
  /** Tables that the user of the URL may not read and write. */
  readonly closedTables: ReadonlyArray<string>
  /** Tables that other roles own: a migration cannot change them. */
  readonly foreignTables: ReadonlyArray<string>
  /**
   * Limits of the user, as `NAME = VALUE`, that can end a transaction of the service where a pooler exchanges sessions:
   * the sessions of the service set theirs.
   */
  readonly hasty: ReadonlyArray<string>
  /** Settings that are off, without which a committed change can be lost. */
  readonly unsafe: ReadonlyArray<string>
  readonly pepperCheck: string | undefined
  readonly serviceHeartbeatAt: Instant.Instant | undefined
  /** The first values that do not hold the JSON that they must hold; see `damagedValue`. */
  readonly damaged: ReadonlyArray<string>
  /** Running totals that are not what the rows count; see `FIND_WRONG_TOTALS`. */
  readonly wrongTotals: ReadonlyArray<string>
  /** Tables whose sequence is behind their rows. */
  readonly behind: ReadonlyArray<string>
  readonly bytes: bigint
  /** How many connections the user of the URL may open in all. */
  readonly connectionLimit: number
  /** How far its clock is ahead of this machine's. */
  readonly clockOffset: Duration.Duration
}

interface Facts extends Pick<PgInspection, "serverVersion" | "isReadOnly" | "unsafe" | "hasty" | "bytes"> {
  /** `null` without a schema. */
  readonly mayCreate: boolean | null
  readonly hasLedger: boolean
  readonly hasTables: boolean
}

/** As long as the service lets its own transactions be idle. */
const SHORTEST_LIMIT_MILLIS = 10_000

/** Inspects a database without changing it. Fails where it is unreachable or slow to answer. */
export const inspectStorage = Effect.fn("inspectStorage")(
  function* (options: PgPoolOptions) {
    const { pg, sql } = yield* connectForInspection(options)
    const { hasLedger, hasTables, mayCreate, ...facts } = yield* readFacts(sql)
    if (mayCreate === null) return yield* noSchema
    yield* verifyRows(sql)
    const { applied, state }: { applied: number; state: PgInspection["schema"] } = hasLedger
      ? compareSchema(yield* readLedger(sql), migrations, checksumOf)
      : { applied: 0, state: hasTables ? "foreign" : "absent" }
    return {
      ...facts,
      mayCreate,
      schema: state,
      applied,
      known: migrations.length,
      connectionLimit: yield* readConnectionLimit(sql),
      clockOffset: yield* readClockOffset(pg),
      ...(state === "behind" || state === "current"
        ? yield* readContent(sql, state === "current")
        : { ...UNREAD, closedTables: [], foreignTables: [] }),
    } satisfies PgInspection
  },
  Effect.scoped,
  Effect.mapError(toStorageError),
)

/** The findings about tables that cannot be read. */
const UNREAD = {
  behind: [],
  damaged: [],
  wrongTotals: [],
  pepperCheck: undefined,
  serviceHeartbeatAt: undefined,
}

const readFacts = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [facts] = yield* sql<Facts>`
    SELECT current_setting('server_version') AS "serverVersion",
           current_setting('transaction_read_only') = 'on' AS "isReadOnly",
           has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate",
           (SELECT array_agg(name ORDER BY name) FROM pg_settings
            WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off') AS unsafe,
           (SELECT array_agg(name || ' = ' || reset_val || unit ORDER BY name) FROM pg_settings
            WHERE name IN ('idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout', 'transaction_timeout')
              AND reset_val::int BETWEEN 1 AND ${SHORTEST_LIMIT_MILLIS - 1}) AS hasty,
           to_regclass('schema_migration') IS NOT NULL AS "hasLedger",
           to_regclass('agent') IS NOT NULL AS "hasTables",
           pg_database_size(current_database()) AS bytes
  `.unprepared
  // Always one row; array_agg of no rows is NULL.
  return { ...(facts as Facts), unsafe: facts?.unsafe ?? [], hasty: facts?.hasty ?? [] }
})

/** Facts in the service's tables, and which of these this user may not use. */
const readContent = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, isCurrent: boolean) {
  const closed = yield* sql<{ name: string }>`
    SELECT relname AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
      AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
               AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
    ORDER BY relname
  `.unprepared
  const closedTables = closed.map(({ name }) => name)
  const foreignTables = foreignAmong(yield* findTables(sql))
  if (closedTables.length > 0) return { ...UNREAD, closedTables, foreignTables }
  const [kept] = yield* sql<{ value: string }>`
    SELECT value FROM established WHERE name = 'pepper_check'
  `.unprepared
  const [serviceHeartbeat] = yield* sql<{ beat_at: bigint }>`
    SELECT beat_at FROM service_heartbeat WHERE name = 'service'
  `.unprepared
  return {
    closedTables,
    foreignTables,
    behind: isCurrent ? (yield* findBehind(sql)).map(({ name }) => name) : [],
    damaged: isCurrent ? yield* findDamaged(sql) : [],
    wrongTotals: isCurrent
      ? (yield* sql.unsafe<{ wrong: string }>(FIND_WRONG_TOTALS).unprepared).map(({ wrong }) => wrong)
      : [],
    pepperCheck: kept?.value,
    serviceHeartbeatAt: serviceHeartbeat && Instant.fromMicros(serviceHeartbeat.beat_at),
  }
})

const findDamaged = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const damaged: Array<string> = []
  for (const table of copiedTables) {
    for (const { name, kind } of jsonColumns(table)) {
      const rows = yield* sql.unsafe<Readonly<Record<string, unknown>>>(
        `SELECT ${table.key.join(", ")} FROM ${table.name} WHERE json_typeof(${name}) <> '${kind}' LIMIT ${MOST_DAMAGED}`,
      )
      damaged.push(...rows.map((row) => damagedValue(table, name, Object.values(row))))
    }
  }
  return damaged.slice(0, MOST_DAMAGED)
})

/** The database's clock against the moment half-way between question and answer. */
const readClockOffset = Effect.fnUntraced(function* (pg: PgClient["Service"]) {
  const asked = yield* Clock.currentTimeNanos
  const storageTime = yield* readStorageTime(pg)
  const answered = yield* Clock.currentTimeNanos
  return Duration.nanos(storageTime * 1_000n - (asked + answered) / 2n)
})

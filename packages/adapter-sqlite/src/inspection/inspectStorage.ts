import { statSync } from "node:fs"
import type { Instant } from "@tocsin/contract/Instant"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect } from "effect"
import { copiedTables } from "@tocsin/core/model/StoredTables"
import { FIND_WRONG_TOTALS } from "@tocsin/core/model/storedTotals"
import { damagedValue, jsonColumns, MOST_DAMAGED } from "@tocsin/core/model/TableShape"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { nodeSqlite } from "../connection/nodeSqlite.ts"
import { inspectFile } from "../connection/inspectFile.ts"
import { realFile } from "../connection/FileIdentity.ts"
import { readUnopened } from "../connection/readUnopened.ts"
import { SqliteFailures } from "../connection/SqliteFailures.ts"
import { whileLocked } from "../connection/whileLocked.ts"
import { migrations } from "../migrations/migrate.ts"

/** Facts of a database file. */
export interface SqliteInspection {
  /** The number of migrations it went through; `undefined` without a database. */
  readonly applied: number | undefined
  /** The number of migrations that this code knows. */
  readonly known: number
  /** The stored check value of the pepper; `undefined` before the first start. */
  readonly pepperCheck: string | undefined
  /** The last service heartbeat of a server on it. */
  readonly serviceHeartbeatAt: Instant | undefined
  /** The first values that do not hold the JSON that they must hold; see `damagedValue`. */
  readonly damaged: ReadonlyArray<string>
  /** Running totals that are not what the rows count; see `FIND_WRONG_TOTALS`. */
  readonly wrongTotals: ReadonlyArray<string>
  /** The size of the file without its write-ahead log. */
  readonly bytes: number
}

const LOCK_TIMEOUT = Duration.seconds(2)

/**
 * Inspects a database file without writing to it or creating it. Fails for files that a server must
 * not open: damaged, not writable, newer than this code, or another program's.
 */
export const inspectStorage = Effect.fn("inspectStorage")(function* (
  path: string,
): Effect.fn.Return<SqliteInspection, StorageError> {
  const file = yield* realFile(path)
  return yield* whileLocked(
    () => {
      nodeSqlite()
      const found = inspectFile(file)
      const nothing = {
        known: migrations.length,
        applied: undefined,
        pepperCheck: undefined,
        serviceHeartbeatAt: undefined,
        damaged: [],
        wrongTotals: [],
      }
      return found === "nothing" ? { ...nothing, bytes: 0 } : inspectDatabase(file)
    },
    { failures: new SqliteFailures(file), lockMillis: Duration.toMillis(LOCK_TIMEOUT) },
  )
})

const inspectDatabase = (file: string): SqliteInspection =>
  readUnopened(file, (connection, { applied }) => {
    const isCurrent = applied === migrations.length
    const one = <A>(sql: string) =>
      applied === undefined || applied === 0 ? undefined : connection.query<[A]>(sql).get()?.[0]
    return {
      applied,
      known: migrations.length,
      pepperCheck: one<string>("SELECT value FROM established WHERE name = 'pepper_check'"),
      serviceHeartbeatAt: one<Instant>("SELECT beat_at FROM service_heartbeat WHERE name = 'service'"),
      damaged: isCurrent ? findDamaged(connection) : [],
      wrongTotals: isCurrent
        ? connection
            .query<[string]>(FIND_WRONG_TOTALS)
            .all()
            .map(([wrong]) => wrong)
        : [],
      bytes: statSync(file).size,
    }
  })

const findDamaged = (connection: SqliteConnection): ReadonlyArray<string> =>
  copiedTables
    .flatMap((table) =>
      jsonColumns(table).flatMap(({ name, kind }) =>
        connection
          .query<ReadonlyArray<unknown>>(
            `SELECT ${table.key.join(", ")} FROM ${table.name} WHERE ${name} IS NOT NULL
            AND CASE WHEN json_valid(${name}) THEN json_type(${name}) <> ? ELSE 1 END LIMIT ${MOST_DAMAGED}`,
          )
          .all(kind)
          .map((key) => damagedValue(table, name, key)),
      ),
    )
    .slice(0, MOST_DAMAGED)

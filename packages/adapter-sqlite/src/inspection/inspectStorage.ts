import { statSync, closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from "node:fs"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Duration, Effect } from "effect"
import { copiedTables, FIND_WRONG_TOTALS } from "@tocsin/core/lists/StoredTables"
import { damagedValue, jsonColumns, MOST_DAMAGED } from "@tocsin/core/kernel/model/TableShape"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { nodeSqlite } from "../connection/nodeSqlite.ts"
import { inspectFile } from "../connection/inspectFile.ts"
import { realFile } from "../connection/OpenFiles.ts"
import { readUnopened } from "../connection/openDatabase.ts"
import { SqliteFailures, whileLocked } from "../connection/SqliteFailures.ts"
import { deletedTextAdvice, keepsDeleted } from "../migrations/deletedText.ts"
import { migrations } from "../migrations/migrate.ts"
import { join } from "node:path"
import process from "node:process"

export interface SqliteInspection {
  /** The number of migrations it went through; `undefined` without a database. */
  readonly applied: number | undefined
  readonly known: number
  readonly pepperCheck: string | undefined
  readonly serviceHeartbeatAt: Instant | undefined
  /** The first values that do not hold the JSON that they must hold; see `damagedValue`. */
  readonly damaged: ReadonlyArray<string>
  /** Running totals that are not what the rows count; see `FIND_WRONG_TOTALS`. */
  readonly wrongTotals: ReadonlyArray<string>
  /** The advice about text that an earlier version deleted, if the file may keep it; see `KEEPS_DELETED`. */
  readonly deletedText: string | undefined
  /** The size of the file without its write-ahead log. */
  readonly bytes: number
}

const LOCK_TIMEOUT = Duration.seconds(2)

/** Inspects a file without writing to it. Fails for files that a server must not open. */
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
        deletedText: undefined,
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
      deletedText: isCurrent && keepsDeleted(connection) ? deletedTextAdvice(file) : undefined,
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

export interface DiskInspection {
  readonly freeBytes: number
  /** The time to sync 4 KiB, which every commit waits for: the median of several tries. */
  readonly syncTime: Duration.Duration
  /** `network`: SQLite's locks and syncs are not safe. `memory`: lost with the machine. */
  readonly kind: "local" | "network" | "memory"
}

// statfs(2), linux/magic.h. Other systems use none of these numbers.
const NETWORK_TYPES: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0xc36400,
])
const MEMORY_TYPES: ReadonlySet<number> = new Set([0x01021994, 0x858458f6])

const TRIES = 11
const BLOCK_BYTES = 4_096

/** Inspects the disk under a folder, with a small temporary file. */
export const inspectDisk = (folder: string): Effect.Effect<DiskInspection, StorageError> =>
  Effect.try({
    try: () => {
      const { bavail, bsize, type } = statfsSync(folder)
      return {
        freeBytes: bavail * bsize,
        syncTime: Duration.millis(syncMillis(join(folder, `.tocsin-doctor-${process.pid}`))),
        kind: NETWORK_TYPES.has(type) ? "network" : MEMORY_TYPES.has(type) ? "memory" : "local",
      } as const
    },
    catch: (cause) =>
      new StorageError({
        reason: "read_only",
        message: `nothing can be written to ${folder}: give Tocsin's user write access, and check that the disk is not full`,
        cause,
      }),
  })

const syncMillis = (path: string): number => {
  const block = Buffer.alloc(BLOCK_BYTES)
  const descriptor = openSync(path, "wx", 0o600)
  try {
    const times = Array.from({ length: TRIES }, () => {
      const start = performance.now()
      writeSync(descriptor, block)
      fdatasyncSync(descriptor)
      return performance.now() - start
    })
    return times.toSorted((a, b) => a - b)[Math.floor(TRIES / 2)] ?? 0
  } finally {
    closeSync(descriptor)
    rmSync(path, { force: true })
  }
}

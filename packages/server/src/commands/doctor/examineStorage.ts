import { existsSync } from "node:fs"
import { dirname } from "node:path"
import * as SqliteInspection from "@tocsin/adapter-sqlite/inspection/inspectStorage"
import * as Instant from "@tocsin/contract/formats/Instant"
import { sizeText } from "@tocsin/contract/formats/numberText"
import { Duration, Effect } from "effect"
import { type Asked, examineUse, type Use } from "./examineUse.ts"
import { attention, failed, type Findings, ok, okUnless, orFailed } from "./Finding.ts"

interface Content extends Use {
  /** How many migrations it went through; none if it is new. */
  readonly applied: number
  readonly known: number
  /** Stored values that cannot be read. */
  readonly damaged: ReadonlyArray<string>
  /** Running totals that are not what the rows count. */
  readonly wrongTotals: ReadonlyArray<string>
}

/** The schema, servers and pepper of a storage. */
export const examineSchema = (
  { applied, damaged, known, wrongTotals, ...used }: Content,
  asked: Asked,
): Findings => {
  if (applied === 0) {
    return [attention("schema", "no Tocsin data yet: start the server, or run tocsin migrate")]
  }
  const at = `at ${applied} of ${known}`
  const upgrade = `${at}: start the server to upgrade it, or run tocsin migrate`
  const unread = `no valid JSON, so read as empty: ${damaged.join(", ")}; correct or delete these rows`
  const wrong = `the summary is wrong: ${wrongTotals.join(", ")}; on PostgreSQL run SELECT recount_system_total(), on SQLite tocsin copy`
  return [
    okUnless(applied < known, "schema", `${at}, which is current`, upgrade),
    okUnless(damaged.length > 0, "rows", "every stored list and object can be read", unread),
    okUnless(wrongTotals.length > 0, "totals", "the summary's totals are those of the rows", wrong),
    ...examineUse(used, asked),
  ]
}

/** Below these, a busy day of results, or one checkpoint of the log, may not fit. */
const SPACE_TO_NOTE_BYTES = 1_073_741_824
const SPACE_TO_FAIL_BYTES = 67_108_864
/** Beyond it, the disk limits the rate of requests. */
const SLOW_SYNC = Duration.millis(20)

/** The embedded database: its file, its schema, and its disk. */
export const examineSqlite = Effect.fnUntraced(function* (file: string, pepperCheck: string) {
  const folder = dirname(file)
  if (!existsSync(folder)) {
    const remedy = "start the server to create it, or set SERVICE_DATA_DIR"
    return [attention("storage", `${folder} does not exist yet: ${remedy}`)]
  }
  const now = yield* Instant.now
  const database = Effect.map(
    SqliteInspection.inspectStorage(file),
    ({ applied = 0, bytes, deletedText: message, ...content }): Findings => [
      ok("storage", applied === 0 ? `${file} can be created` : `${file} can be opened, ${sizeText(bytes)}`),
      ...examineSchema({ ...content, applied }, { now, pepperCheck }),
      ...(message === undefined ? [] : [attention("secrets", message)]),
    ],
  )
  const disk = Effect.map(SqliteInspection.inspectDisk(folder), (found) => diskFindings(found, folder))
  return [...(yield* orFailed("storage", database)), ...(yield* orFailed("disk", disk))]
})

const diskFindings = (
  { freeBytes, syncTime, kind }: SqliteInspection.DiskInspection,
  folder: string,
): Findings => {
  const free = `${sizeText(freeBytes)} free in ${folder}`
  const space =
    freeBytes < SPACE_TO_FAIL_BYTES
      ? failed("disk space", `${free}: free some space now, or writes will fail`, "storage")
      : freeBytes < SPACE_TO_NOTE_BYTES
        ? attention("disk space", `${free}: free some space, or shorten the retention (SERVICE_RETENTION_…)`)
        : ok("disk space", free)
  const time = `a commit reaches the disk in ${Duration.toMillis(syncTime).toFixed(2)} ms`
  const slow = `${time}, which delays every answer: use a faster disk, or PostgreSQL`
  const sync = okUnless(Duration.isGreaterThan(syncTime, SLOW_SYNC), "disk sync", time, slow)
  return [space, sync, ...(kind === "local" ? [] : [attention("disk", DISK_ADVICE[kind])])]
}

const DISK_ADVICE = {
  network: "the folder is on a network file system, where SQLite's locks are not safe: use a local disk",
  memory: "the folder is in memory and is lost when this machine restarts: use a disk",
} as const

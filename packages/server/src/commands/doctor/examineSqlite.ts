import { existsSync } from "node:fs"
import { dirname } from "node:path"
import {
  type DiskInspection,
  inspectDisk,
  inspectStorage,
} from "@tocsin/adapter-sqlite/inspection/inspectStorage"
import * as Instant from "@tocsin/contract/Instant"
import { Duration, Effect } from "effect"
import { sizeText } from "../../output/texts.ts"
import { examineSchema } from "./examineSchema.ts"
import { attention, failed, type Findings, ok } from "./Finding.ts"

/** Below these, a busy day of results, or one checkpoint of the log, may not fit. */
const SPACE_TO_NOTE_BYTES = 1_073_741_824
const SPACE_TO_FAIL_BYTES = 67_108_864
/** Beyond it, the disk limits the rate of requests. */
const SLOW_SYNC = Duration.millis(20)

/** The embedded database: its file, its schema, and its disk. */
export const examineSqlite = Effect.fnUntraced(function* (file: string, pepperCheck: string) {
  const folder = dirname(file)
  if (!existsSync(folder)) {
    return [
      attention(
        "storage",
        `${folder} does not exist yet: start the server to create it, or set SERVICE_DATA_DIR`,
      ),
    ]
  }
  const now = yield* Instant.now
  const database = yield* inspectStorage(file).pipe(
    Effect.map(({ applied = 0, bytes, ...content }): Findings => [
      ok("storage", applied === 0 ? `${file} can be created` : `${file} can be opened, ${sizeText(bytes)}`),
      ...examineSchema({ ...content, applied }, { now, pepperCheck }),
    ]),
    Effect.catch(({ message }) => Effect.succeed<Findings>([failed("storage", message, "storage")])),
  )
  const disk = yield* inspectDisk(folder).pipe(
    Effect.map((found) => diskFindings(found, folder)),
    Effect.catch(({ message }) => Effect.succeed<Findings>([failed("disk", message, "storage")])),
  )
  return [...database, ...disk]
})

const diskFindings = ({ freeBytes, syncTime, kind }: DiskInspection, folder: string): Findings => {
  const free = `${sizeText(freeBytes)} free in ${folder}`
  const space =
    freeBytes < SPACE_TO_FAIL_BYTES
      ? failed("disk space", `${free}: free some space now, or writes will fail`, "storage")
      : freeBytes < SPACE_TO_NOTE_BYTES
        ? attention("disk space", `${free}: free some space, or shorten the retention (SERVICE_RETENTION_…)`)
        : ok("disk space", free)
  const time = `a commit reaches the disk in ${Duration.toMillis(syncTime).toFixed(2)} ms`
  const sync = Duration.isGreaterThan(syncTime, SLOW_SYNC)
    ? attention("disk sync", `${time}, which delays every answer: use a faster disk, or PostgreSQL`)
    : ok("disk sync", time)
  return [space, sync, ...(kind === "local" ? [] : [attention("disk", DISK_ADVICE[kind])])]
}

const DISK_ADVICE = {
  network: "the folder is on a network file system, where SQLite's locks are not safe: use a local disk",
  memory: "the folder is in memory and is lost when this machine restarts: use a disk",
} as const

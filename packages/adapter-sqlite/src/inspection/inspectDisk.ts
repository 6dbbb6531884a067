import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect } from "effect"

/** Facts of the disk under a database. */
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

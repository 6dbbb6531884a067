import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { BenchFailure } from "./BenchFailure.ts"

const TMPFS = 0x01021994

const isOnDisk = (path: string): boolean => {
  try {
    return statfsSync(path).type !== TMPFS
  } catch {
    // A folder that is not there.
    return false
  }
}

/** A new folder on a disk (memory would sync in no time), removed with the scope. */
export const dataFolder = (given: string | undefined): Effect.Effect<string, BenchFailure, Scope.Scope> =>
  Effect.gen(function* () {
    if (given !== undefined) mkdirSync(given, { recursive: true })
    const parent = (given === undefined ? [tmpdir(), "/var/tmp"] : [given]).find(isOnDisk)
    if (parent === undefined) {
      return yield* new BenchFailure({
        message:
          "the temporary folder is in memory, where nothing is durable: name one on a disk with --data-dir",
      })
    }
    return yield* Effect.acquireRelease(
      Effect.sync(() => {
        const folder = mkdtempSync(join(parent, "tocsin-bench-"))
        // PostgreSQL may run as another user, who must be able to enter.
        chmodSync(folder, 0o755)
        return folder
      }),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
    )
  })

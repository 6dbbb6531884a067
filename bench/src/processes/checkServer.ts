import { execFile } from "node:child_process"
import process from "node:process"
import { promisify } from "node:util"
import { Effect } from "effect"
import { BenchFailure } from "../BenchFailure.ts"

/**
 * Asks the server for its version: it can be started, and what its first start prepares is
 * prepared.
 */
export const checkServer = (main: string): Effect.Effect<void, BenchFailure> =>
  Effect.asVoid(
    Effect.tryPromise({
      try: () => promisify(execFile)(process.execPath, [main, "--version"]),
      catch: (cause) => new BenchFailure({ message: `the server cannot be started: ${String(cause)}` }),
    }),
  )

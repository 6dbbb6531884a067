import { Effect, FileSystem } from "effect"
import { StartFailure } from "./StartFailure.ts"

// What checks print is in the database, and may be nobody else's business.
const OWNER_ONLY = 0o700

/** Makes sure that the data folder is there; a new one is open to its owner alone. */
export const ensureDataDirectory = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    files.makeDirectory(path, { recursive: true, mode: OWNER_ONLY }),
    (cause) =>
      new StartFailure({
        message: `the data folder ${path} cannot be created; check that no file has its name and that its parent is writable, or set SERVICE_DATA_DIR`,
        cause,
      }),
  )
})

import { Effect, FileSystem } from "effect"
import { StartFailure } from "./StartFailure.ts"

/** Makes sure that the data folder is there. */
export const ensureDataDirectory = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    files.makeDirectory(path, { recursive: true }),
    (cause) =>
      new StartFailure({
        message: `the data folder ${path} cannot be made; see that no file has its place and that its parent can be written, or set SERVICE_DATA_DIR`,
        cause,
      }),
  )
})

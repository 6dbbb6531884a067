import { dirname } from "node:path"
import { Effect, FileSystem, Redacted, Schedule } from "effect"
import { StartFailure } from "./StartFailure.ts"

const OWNER_ONLY = 0o600

// Another process may have just created the file and not yet written its line.
const LOOKS = { schedule: Schedule.spaced("20 millis"), times: 50 }

interface KeptSecret {
  readonly path: string
  /** Names the file in a message. */
  readonly name: string
  /** The setting that replaces it. */
  readonly setting: string
  /** A new secret. */
  readonly drawn: Redacted.Redacted
  readonly isValid: (stored: Redacted.Redacted) => boolean
}

/** A secret that is generated once, in a file of its own, and whether this call has generated it. */
export const keptSecret = Effect.fnUntraced(function* ({ drawn, isValid, name, path, setting }: KeptSecret) {
  const files = yield* FileSystem.FileSystem
  const failed = (cause: unknown) =>
    new StartFailure({
      message: `the ${name} file ${path} cannot be used; check its permissions, delete it, or set ${setting}`,
      cause,
    })
  const notWritable = (cause: unknown) =>
    new StartFailure({
      message: `the data folder ${dirname(path)} is not writable; give Tocsin's user write access, or set SERVICE_DATA_DIR`,
      cause,
    })
  // `wx`: of several processes one writes the file, and the others read it.
  const isNew = yield* files
    .writeFileString(path, `${Redacted.value(drawn)}\n`, { mode: OWNER_ONLY, flag: "wx" })
    .pipe(
      Effect.as(true),
      Effect.catchIf(
        ({ reason }) => reason._tag === "AlreadyExists",
        () => Effect.succeed(false),
      ),
      Effect.mapError((cause) =>
        cause.reason._tag === "PermissionDenied" ? notWritable(cause) : failed(cause),
      ),
    )
  if (isNew) return { secret: drawn, isNew }
  const text = yield* files
    .readFileString(path)
    .pipe(Effect.repeat({ ...LOOKS, while: (read) => read === "" }), Effect.mapError(failed))
  const secret = Redacted.make(text.trim())
  return isValid(secret) ? { secret, isNew } : yield* failed(`it does not hold one ${name}`)
})

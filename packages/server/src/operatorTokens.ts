import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { isWellFormed } from "@tocsin/contract/BearerToken"
import { Console, Effect, FileSystem, Redacted, Schedule } from "effect"
import type { Settings } from "./settings/Settings.ts"
import { StartFailure } from "./StartFailure.ts"

const TOKEN_BYTES = 24
const OWNER_ONLY = 0o600

const generate = Effect.sync(() => Redacted.make(randomBytes(TOKEN_BYTES).toString("base64url")))

// On a terminal it is shown at any SERVICE_LOG_LEVEL; a log contains only records.
const announce = (text: string, isTerminal: boolean) =>
  isTerminal ? Console.error(text) : Effect.logInfo(text)

// The token alone on standard output, for scripts, and never in the log.
const print = (token: Redacted.Redacted, label: Effect.Effect<void>) =>
  Effect.andThen(label, Console.log(Redacted.value(token)))

// Another process may have just created the file and not yet written its line.
const LOOKS = { schedule: Schedule.spaced("20 millis"), times: 50 }

const kept = Effect.fnUntraced(function* (path: string, isTerminal: boolean) {
  const files = yield* FileSystem.FileSystem
  const failed = (cause: unknown) =>
    new StartFailure({
      message: `the token file ${path} cannot be used; check its permissions, delete it, or set SERVICE_AUTH_TOKEN`,
      cause,
    })
  const token = yield* generate
  // `wx`: of several processes one writes the file, and the others read it.
  const isNew = yield* files
    .writeFileString(path, `${Redacted.value(token)}\n`, { mode: OWNER_ONLY, flag: "wx" })
    .pipe(
      Effect.as(true),
      Effect.catchIf(
        ({ reason }) => reason._tag === "AlreadyExists",
        () => Effect.succeed(false),
      ),
      Effect.mapError(failed),
    )
  if (isNew) {
    yield* print(
      token,
      announce(
        `your operator token follows on standard output, this once; it is stored in ${path}`,
        isTerminal,
      ),
    )
    return token
  }
  const text = yield* files
    .readFileString(path)
    .pipe(Effect.repeat({ ...LOOKS, while: (read) => read === "" }), Effect.mapError(failed))
  const stored = Redacted.make(text.trim())
  if (!isWellFormed(stored)) return yield* failed("it does not hold one token")
  yield* announce(`the operator token is in ${path}`, isTerminal)
  return stored
})

/**
 * The operators' tokens: the configured ones, or a generated one that is kept beside the embedded
 * database. `isTerminal`: whether standard error is a terminal.
 */
export const operatorTokens = Effect.fnUntraced(function* (settings: Settings, isTerminal: boolean) {
  if (settings.SERVICE_AUTH_TOKEN !== undefined) return settings.SERVICE_AUTH_TOKEN
  if (settings.DATABASE_URL === undefined)
    return [yield* kept(join(settings.SERVICE_DATA_DIR, "ui-token"), isTerminal)]
  const token = yield* generate
  yield* print(
    token,
    announce(
      "your operator token follows on standard output; it ends with this process, so set SERVICE_AUTH_TOKEN to keep one",
      isTerminal,
    ),
  )
  return [token]
})

import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { Console, Effect, FileSystem, Redacted } from "effect"
import type { Settings } from "./settings/Settings.ts"
import { StartFailure } from "./StartFailure.ts"

const TOKEN_BYTES = 24
const OWNER_ONLY = 0o600

const generate = Effect.sync(() => Redacted.make(randomBytes(TOKEN_BYTES).toString("base64url")))

// A bare word on standard output, not a log line: it is shown to the person who started the service, this once.
const print = (token: Redacted.Redacted) => Console.log(Redacted.value(token))

const kept = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const failed = (cause: unknown) =>
    new StartFailure({
      message: `the token file ${path} cannot be used; check its permissions, delete it, or set SERVICE_AUTH_TOKEN`,
      cause,
    })
  const isThere = yield* Effect.mapError(files.exists(path), failed)
  if (isThere) {
    const text = (yield* Effect.mapError(files.readFileString(path), failed)).trim()
    if (!/^[\x21-\x7e]{1,512}$/.test(text)) return yield* failed("it does not hold one token")
    return Redacted.make(text)
  }
  const token = yield* generate
  // `wx`: of two processes that start at once one writes, and the other is told that the file is there.
  const write = files.writeFileString(path, `${Redacted.value(token)}\n`, { mode: OWNER_ONLY, flag: "wx" })
  yield* Effect.mapError(write, failed)
  yield* print(token)
  return token
})

/** The operators' tokens: those that are set, or else one that is generated (kept beside the embedded database). */
export const uiTokens = Effect.fnUntraced(function* (settings: Settings) {
  if (settings.SERVICE_AUTH_TOKEN !== undefined) return settings.SERVICE_AUTH_TOKEN
  if (settings.DATABASE_URL === undefined) return [yield* kept(join(settings.SERVICE_DATA_DIR, "ui-token"))]
  const token = yield* generate
  yield* print(token)
  return [token]
})

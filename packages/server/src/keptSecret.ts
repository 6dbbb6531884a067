import { randomBytes } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join, dirname } from "node:path"
import { isWellFormed } from "@tocsin/contract/operators/BearerToken"
import { Console, Effect, Redacted, FileSystem, Result, Schedule } from "effect"
import type { Settings } from "./settings/Settings.ts"
import { SECRETS_KEYS, secretCipher } from "@tocsin/adapter-crypto/AesSecretCipher"
import { LINK_KEY } from "@tocsin/adapter-crypto/HmacLinkSigner"
import { StartFailure } from "./CommandFailure.ts"

const OWNER_ONLY = 0o600

// Another process may have just created the file and not yet written its line.
const LOOKS = { schedule: Schedule.spaced("20 millis"), times: 50 }

interface KeptSecret {
  readonly path: string
  readonly name: string
  readonly setting: string
  readonly drawn: Redacted.Redacted
  readonly isValid: (stored: Redacted.Redacted) => boolean
}

/** A secret that is generated once, in a separate file, and whether this call has generated it. */
const keptSecret = Effect.fnUntraced(function* ({ drawn, isValid, name, path, setting }: KeptSecret) {
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

const KEY_BYTES = 32

const drawn = Effect.sync(() => Redacted.make(randomBytes(KEY_BYTES).toString("hex")))

interface KeyKind {
  readonly setting: "SERVICE_LINK_KEY" | "SERVICE_SECRETS_KEY"
  readonly name: string
  /** Its file among the data. */
  readonly file: string
  readonly form: RegExp
}

const LINK = { setting: "SERVICE_LINK_KEY", name: "link key", file: "link-key", form: LINK_KEY } as const
export const SECRETS_KEY_FILE = "secrets-key"
const SECRETS = {
  setting: "SERVICE_SECRETS_KEY",
  name: "secrets key",
  file: SECRETS_KEY_FILE,
  form: SECRETS_KEYS,
} as const

const keyOf = Effect.fnUntraced(function* (settings: Settings, { file, form, name, setting }: KeyKind) {
  const { DATABASE_URL, SERVICE_DATA_DIR, [setting]: given } = settings
  if (given !== undefined) return given
  if (DATABASE_URL !== undefined) return DATABASE_URL.kind === "postgres" ? undefined : yield* drawn
  const isValid = (stored: Redacted.Redacted) => form.test(Redacted.value(stored))
  const path = join(SERVICE_DATA_DIR, file)
  const { secret } = yield* keptSecret({ path, name, setting, drawn: yield* drawn, isValid })
  return secret
})

const presentKeyOf = (settings: Settings, { file, form, setting }: KeyKind) => {
  const { DATABASE_URL, SERVICE_DATA_DIR, [setting]: given } = settings
  if (given !== undefined || DATABASE_URL !== undefined) return given
  const text = Result.try(() => readFileSync(join(SERVICE_DATA_DIR, file), "utf8").trim())
  return Result.isSuccess(text) && form.test(text.success) ? Redacted.make(text.success) : undefined
}

/**
 * The key of links that acknowledge: the configured one, or a generated one that is kept with the data. On
 * PostgreSQL there is none unless it is set, because all replicas need the same.
 */
export const linkKey = (settings: Settings) => keyOf(settings, LINK)

/** The key of links that a server with these settings has, as far as this process can read it. */
export const presentLinkKey = (settings: Settings) => presentKeyOf(settings, LINK)

const cipherOf = (keys: Redacted.Redacted | undefined) => keys && secretCipher(keys)

/** Encrypts the stored secrets of receivers, with a key that is found or made as {@link linkKey} is. */
export const secretCipherOf = (settings: Settings) => Effect.map(keyOf(settings, SECRETS), cipherOf)

/** The same of a server with these settings, as far as this process can read the key. */
export const presentSecretCipher = (settings: Settings) => cipherOf(presentKeyOf(settings, SECRETS))

const TOKEN_FILE = "ui-token"

/** Whether a server with any storage but PostgreSQL has run with this data folder. */
export const hasServed = (folder: string): boolean =>
  [TOKEN_FILE, LINK.file, SECRETS.file].some((file) => existsSync(join(folder, file)))

const TOKEN_BYTES = 24

const generate = Effect.sync(() => Redacted.make(randomBytes(TOKEN_BYTES).toString("base64url")))

// On a terminal it is shown at any SERVICE_LOG_LEVEL; a log contains only records.
const announce = (text: string, isTerminal: boolean) =>
  isTerminal ? Console.error(text) : Effect.logInfo(text)

// The token alone on standard output, for scripts, and never in the log.
const print = (token: Redacted.Redacted, label: Effect.Effect<void>) =>
  Effect.andThen(label, Console.log(Redacted.value(token)))

const kept = Effect.fnUntraced(function* (path: string, isTerminal: boolean) {
  const { isNew, secret: token } = yield* keptSecret({
    path,
    name: "token",
    setting: "SERVICE_AUTH_TOKEN",
    drawn: yield* generate,
    isValid: isWellFormed,
  })
  if (!isNew) {
    yield* announce(`the operator token is in ${path}`, isTerminal)
    return token
  }
  yield* print(
    token,
    announce(
      `your operator token follows on standard output, this once; it is stored in ${path}`,
      isTerminal,
    ),
  )
  return token
})

/**
 * The operators' tokens: the configured ones, or a generated one that is kept beside the embedded
 * database. `isTerminal`: whether standard error is a terminal.
 */
export const operatorTokens = Effect.fnUntraced(function* (settings: Settings, isTerminal: boolean) {
  if (settings.SERVICE_AUTH_TOKEN !== undefined) return settings.SERVICE_AUTH_TOKEN
  if (settings.DATABASE_URL === undefined)
    return [yield* kept(join(settings.SERVICE_DATA_DIR, TOKEN_FILE), isTerminal)]
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

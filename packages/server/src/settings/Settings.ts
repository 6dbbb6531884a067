import { Duration, Result, Schema } from "effect"
import { readSetting, type Setting, type SettingProblem } from "./Setting.ts"
import { DatabaseUrl, DurationText, Fingerprints, Secret, Tokens, Whole } from "./values.ts"

const TOKENS_TAKE = "tokens of 1 to 512 visible ASCII characters, separated by spaces or commas"
const DURATION_TAKES = "a duration such as 1500ms, 90s, 5m, 12h or 93d, longer than nothing"

const setting = <A, const Fallback extends string | undefined>(
  definition: Setting<A, Fallback>,
): Setting<A, Fallback> => definition

/** Every setting of the server, by its environment variable. */
export const definitions = {
  SERVICE_AUTH_TOKEN: setting({
    schema: Tokens,
    meaning: "tokens of operators (UI tokens); all are valid at the same time",
    takes: TOKENS_TAKE,
    fallback: undefined,
    whenUnset: "generated, kept in SERVICE_DATA_DIR/ui-token and printed once; required with PostgreSQL",
    isSecret: true,
  }),
  SERVICE_HOST: setting({
    schema: Schema.NonEmptyString,
    meaning: "address to listen on; 0.0.0.0 or :: for all",
    takes: "a host name or an IP address",
    fallback: "127.0.0.1",
  }),
  SERVICE_PORT: setting({
    schema: Whole(0, 65_535),
    meaning: "port to listen on; 0 lets the system choose",
    takes: "a whole number from 0 to 65535",
    fallback: "8080",
  }),
  DATABASE_URL: setting({
    schema: DatabaseUrl,
    meaning: "where state is kept: postgres://USER:PASSWORD@HOST/DATABASE, or memory: to keep nothing",
    takes: "memory: or an address that begins with postgres://",
    fallback: undefined,
    whenUnset: "embedded SQLite, tocsin.db in SERVICE_DATA_DIR",
    isSecret: true,
  }),
  SERVICE_DATA_DIR: setting({
    schema: Schema.NonEmptyString,
    meaning: "folder of the embedded database and the generated token",
    takes: "the path of a folder",
    fallback: "./data",
  }),
  SERVICE_KEY_PEPPER: setting({
    schema: Secret,
    meaning: "secret that agent keys are hashed with; can never be changed for a storage",
    takes: "any text",
    fallback: undefined,
    whenUnset: "none",
    isSecret: true,
  }),
  SERVICE_ACCEPT_FINGERPRINTS: setting({
    schema: Fingerprints,
    meaning: "fingerprints of agent keys that are accepted on sight",
    takes: "fingerprints of 16 lower-case hex digits, separated by spaces or commas",
    fallback: undefined,
    whenUnset: "none",
  }),
  SERVICE_MAX_PENDING_AGENTS: setting({
    schema: Whole(1, 1_000_000),
    meaning: "registrations beyond this many pending agents are refused with 429",
    takes: "a whole number from 1 to 1000000",
    fallback: "10000",
  }),
  SERVICE_STALE_AFTER: setting({
    schema: DurationText,
    meaning: "an agent not heard of for so long is stale",
    takes: DURATION_TAKES,
    fallback: "120s",
  }),
  SERVICE_DEAD_AFTER: setting({
    schema: DurationText,
    meaning: "an agent not heard of for so long is dead",
    takes: DURATION_TAKES,
    fallback: "300s",
  }),
  SERVICE_STORAGE_TIMEOUT: setting({
    schema: DurationText,
    meaning: "a request that the storage does not answer in this time fails with 500",
    takes: DURATION_TAKES,
    fallback: "10s",
  }),
  SERVICE_LOG_FORMAT: setting({
    schema: Schema.Literals(["json", "pretty"]),
    meaning: "how the log is written, to standard error",
    takes: "json or pretty",
    fallback: undefined,
    whenUnset: "json; pretty on a terminal",
  }),
  SERVICE_LOG_LEVEL: setting({
    schema: Schema.Literals(["trace", "debug", "info", "warn", "error"]),
    meaning: "the least level that is logged; debug has one line a request",
    takes: "trace, debug, info, warn or error",
    fallback: "info",
  }),
} as const

type Definitions = typeof definitions
type ValueOf<S> = S extends Setting<infer A, infer Fallback> ? (Fallback extends string ? A : A | undefined) : never

/** The settings as decoded; those without a fallback are `undefined` when unset. */
export type Settings = { readonly [Name in keyof Definitions]: ValueOf<Definitions[Name]> }

/** Some settings are bad: all of them, each with what it holds and what it takes. */
export class BadSettings extends Schema.TaggedError<BadSettings>()("BadSettings", { message: Schema.String }) {}

/** Reads all settings from the environment; fails once, naming every bad one. */
export const readSettings = (
  environment: Readonly<Record<string, string | undefined>>,
): Result.Result<Settings, BadSettings> => {
  const problems: Array<SettingProblem> = []
  const values: Record<string, unknown> = {}
  for (const [name, definition] of Object.entries<Setting<unknown>>(definitions)) {
    const read = readSetting(name, definition, environment[name])
    if (Result.isSuccess(read)) values[name] = read.success
    else problems.push(read.failure)
  }
  // Each value was decoded by the schema of its own name just above.
  const settings = values as unknown as Settings
  if (problems.length === 0) problems.push(...contradictions(settings))
  if (problems.length === 0) return Result.succeed(settings)
  const lines = problems.map(({ message }) => `  ${message}`)
  return Result.fail(
    new BadSettings({ message: ["Tocsin cannot start with these settings (see --help):", ...lines].join("\n") }),
  )
}

const contradictions = (settings: Settings): ReadonlyArray<SettingProblem> => {
  const found: Array<SettingProblem> = []
  if (settings.DATABASE_URL?.kind === "postgres" && settings.SERVICE_AUTH_TOKEN === undefined) {
    const message = `SERVICE_AUTH_TOKEN is not set, but must be with PostgreSQL: ${TOKENS_TAKE}`
    found.push({ name: "SERVICE_AUTH_TOKEN", message })
  }
  if (!Duration.isGreaterThan(settings.SERVICE_DEAD_AFTER, settings.SERVICE_STALE_AFTER)) {
    found.push({ name: "SERVICE_DEAD_AFTER", message: "SERVICE_DEAD_AFTER must be longer than SERVICE_STALE_AFTER" })
  }
  return found
}

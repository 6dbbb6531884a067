import { Result, Schema } from "effect"
import { readSetting, type Setting, setting, type SettingProblem } from "./Setting.ts"
import { retentionSettings } from "./retentionSettings.ts"
import { telemetrySettings } from "./telemetrySettings.ts"
import {
  DatabaseUrl,
  DurationText,
  Fingerprints,
  Flag,
  MetricsToken,
  NotifierKinds,
  Origins,
  Rate,
  Secret,
  SecretAddress,
  SecretWord,
  Threshold,
  Tokens,
  WebhookSecrets,
  Whole,
  Word,
} from "./values.ts"

const TOKENS_TAKE = "tokens of 1 to 512 visible ASCII characters, separated by spaces or commas"
const RATE_TAKES = "a rate such as 120/60 (per minute / burst), or 0 for no limit"
const ADDRESS_TAKES = "a URL that begins with http:// or https://"
const THRESHOLD_TAKES = "a duration such as 90s, 5m or 12h, 2s or longer"
const DURATION_TAKES = "a duration such as 1500ms, 90s, 5m, 12h or 93d, longer than nothing"

/** Every setting of the server, by its environment variable. */
export const definitions = {
  SERVICE_AUTH_TOKEN: setting({
    schema: Tokens,
    meaning: "operator tokens; all are valid at the same time",
    takes: TOKENS_TAKE,
    fallback: undefined,
    whenUnset: "generated, kept in SERVICE_DATA_DIR/ui-token and printed once; required with PostgreSQL",
    isSecret: true,
  }),
  SERVICE_READ_TOKEN: setting({
    schema: Tokens,
    meaning: "tokens that may read everything and change nothing",
    takes: TOKENS_TAKE,
    fallback: undefined,
    whenUnset: "none",
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
    takes: "memory: or a URL that begins with postgres://",
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
    schema: Threshold,
    meaning: "an agent that is silent for this long is stale",
    takes: THRESHOLD_TAKES,
    fallback: "120s",
  }),
  SERVICE_DEAD_AFTER: setting({
    schema: Threshold,
    meaning: "an agent that is silent for this long is dead",
    takes: THRESHOLD_TAKES,
    fallback: "300s",
  }),
  SERVICE_HEARTBEAT_RATE: setting({
    schema: Rate,
    meaning: "heartbeats of one agent key: so many a minute, so many at once",
    takes: RATE_TAKES,
    fallback: "120/60",
  }),
  SERVICE_REGISTRATION_RATE: setting({
    schema: Rate,
    meaning: "heartbeats with unknown keys from one client address",
    takes: RATE_TAKES,
    fallback: "600/300",
  }),
  SERVICE_TRUST_PROXY: setting({
    schema: Whole(1, 16),
    meaning:
      "how many proxies in front of the service to trust for X-Forwarded-For; 1: its last address counts",
    takes: "a whole number from 1 to 16",
    fallback: undefined,
    whenUnset: "none; the address is that of the connection",
  }),
  SERVICE_ALLOWED_ORIGINS: setting({
    schema: Origins,
    meaning: "origins whose pages may call the API from browsers (CORS)",
    takes:
      "origins as browsers send them, such as https://dashboard.example (no path, no port that the scheme implies), separated by spaces or commas; or * alone, for every page",
    fallback: undefined,
    whenUnset: "none",
  }),
  SERVICE_NOTIFIERS: setting({
    schema: NotifierKinds,
    meaning: "the notifiers that are told of incidents",
    takes: "some of debug, webhook, messenger and alert_router, separated by commas",
    fallback: undefined,
    whenUnset: "debug, and each whose settings are given",
  }),
  SERVICE_WEBHOOK_URL: setting({
    schema: SecretAddress,
    meaning: "where the webhook notifier posts",
    takes: ADDRESS_TAKES,
    fallback: undefined,
    whenUnset: "no webhook",
    isSecret: true,
  }),
  SERVICE_WEBHOOK_SECRET: setting({
    schema: WebhookSecrets,
    meaning: "what webhooks are signed with (Standard Webhooks); several while rotating",
    takes:
      "whsec_ followed by 24 to 64 bytes in base64 (padded, as printed by openssl rand -base64 32), several separated by spaces",
    fallback: undefined,
    whenUnset: "none; required with SERVICE_WEBHOOK_URL",
    isSecret: true,
  }),
  SERVICE_ALERT_ROUTER_URL: setting({
    schema: SecretAddress,
    meaning: "base address of a Prometheus Alertmanager",
    takes: ADDRESS_TAKES,
    fallback: undefined,
    whenUnset: "no alert router",
    isSecret: true,
  }),
  SERVICE_MESSENGER_URL: setting({
    schema: SecretAddress,
    meaning: "a Slack-compatible incoming webhook",
    takes: ADDRESS_TAKES,
    fallback: undefined,
    whenUnset: "no messenger, unless SERVICE_TELEGRAM_TOKEN is set",
    isSecret: true,
  }),
  SERVICE_TELEGRAM_TOKEN: setting({
    schema: SecretWord,
    meaning: "token of the Telegram bot that writes; SERVICE_TELEGRAM_CHAT says where",
    takes: "the token that BotFather gave, without spaces",
    fallback: undefined,
    whenUnset: "no Telegram",
    isSecret: true,
  }),
  SERVICE_TELEGRAM_CHAT: setting({
    schema: Word,
    meaning: "the Telegram chat that the bot writes to",
    takes: "the id of a chat, or @ and the name of a channel",
    fallback: undefined,
    whenUnset: "no Telegram",
  }),
  SERVICE_DENY_PRIVATE_TARGETS: setting({
    schema: Flag,
    meaning: "whether notifiers refuse private addresses; link-local ones are always refused",
    takes: "true or false",
    fallback: "false",
  }),
  SERVICE_DELIVERY_LEASE: setting({
    schema: DurationText,
    meaning: "how long one attempt to deliver holds its item; below 15s it shortens the time-out of sending",
    takes: DURATION_TAKES,
    fallback: "60s",
  }),
  SERVICE_DELIVERY_CONCURRENCY: setting({
    schema: Whole(1, 1_000),
    meaning: "attempts under way at each notifier; one that hangs takes one of them for up to 15s",
    takes: "a whole number from 1 to 1000",
    fallback: "32",
  }),
  SERVICE_BEAT_URL: setting({
    schema: SecretAddress,
    meaning:
      "where a beat goes while all is well, and below it at /fail what is not (healthchecks.io and the like)",
    takes: ADDRESS_TAKES,
    fallback: undefined,
    whenUnset: "no beat",
    isSecret: true,
  }),
  SERVICE_BEAT_INTERVAL: setting({
    schema: DurationText,
    meaning: "from one beat to the next",
    takes: DURATION_TAKES,
    fallback: "60s",
  }),
  ...retentionSettings,
  SERVICE_STORAGE_TIMEOUT: setting({
    schema: DurationText,
    meaning: "a request that the storage does not answer in this time fails with 500",
    takes: DURATION_TAKES,
    fallback: "10s",
  }),
  SERVICE_METRICS_TOKEN: setting({
    schema: MetricsToken,
    meaning: "token that may read /metrics, as the operators' tokens may; open lets everyone read it",
    takes: "a token of 1 to 512 visible ASCII characters, or open",
    fallback: undefined,
    whenUnset: "none; /metrics takes a token of SERVICE_AUTH_TOKEN or SERVICE_READ_TOKEN",
    isSecret: true,
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
  ...telemetrySettings,
} as const

type Definitions = typeof definitions
type ValueOf<S> =
  S extends Setting<infer A, infer Fallback> ? (Fallback extends string ? A : A | undefined) : never

/** The settings as decoded; those without a fallback are `undefined` when unset. */
export type Settings = { readonly [Name in keyof Definitions]: ValueOf<Definitions[Name]> }

/** Settings of which some may be bad: those have no value. */
export interface SettingsRead {
  readonly values: Partial<Settings>
  readonly problems: ReadonlyArray<SettingProblem>
}

/** Reads every setting by itself. */
export const readSettings = (environment: Readonly<Record<string, string | undefined>>): SettingsRead => {
  const problems: Array<SettingProblem> = []
  const values: Record<string, unknown> = {}
  for (const [name, definition] of Object.entries<Setting<unknown>>(definitions)) {
    const read = readSetting(name, definition, environment)
    if (Result.isSuccess(read)) values[name] = read.success
    else problems.push(read.failure)
  }
  // Each value was decoded by the schema of its own name just above.
  return { values: values as Partial<Settings>, problems }
}

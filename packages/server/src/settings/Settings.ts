import type { StoredSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import type { Extensions } from "../extensions/Extensions.ts"
import * as type from "./settingTypes.ts"
import { features } from "../features.ts"
import type { PlacedSettings, SettingsIn, Together } from "../parts.ts"
import { telemetrySettings } from "./telemetrySettings.ts"

const { setting } = type

const NONE = { whenUnset: "none" }

/** The settings that are no feature's own, by their environment variables. */
const common = {
  SERVICE_AUTH_TOKEN: setting(type.tokens, "operator tokens; all are valid at the same time", {
    whenUnset: "generated, kept in SERVICE_DATA_DIR/ui-token and printed once; required with PostgreSQL",
  }),
  SERVICE_READ_TOKEN: setting(type.tokens, "read-only tokens, for dashboards", NONE),
  SERVICE_HOST: setting(
    type.text("a host name or an IP address"),
    "address to listen on; 0.0.0.0 or :: for all",
    { fallback: "127.0.0.1" },
  ),
  SERVICE_PORT: setting(type.wholeNumber(0, 65_535), "port to listen on; 0 lets the system choose", {
    fallback: "8080",
  }),
  DATABASE_URL: setting(
    type.database,
    "where state is kept: postgres://USER:PASSWORD@HOST/DATABASE, or memory: to keep nothing",
    { whenUnset: "embedded SQLite, tocsin.db in SERVICE_DATA_DIR" },
  ),
  SERVICE_DATA_DIR: setting(
    type.text("the path of a folder"),
    "folder of the embedded database and the generated token",
    { fallback: "./data" },
  ),
  SERVICE_KEY_PEPPER: setting(
    type.secretText,
    "secret that agent keys are hashed with; cannot be changed once a storage is in use",
    NONE,
  ),
  SERVICE_ACCEPT_FINGERPRINTS: setting(
    type.fingerprints,
    "fingerprints of agent keys to accept without an operator",
    NONE,
  ),
  SERVICE_MAX_PENDING_AGENTS: setting(
    type.wholeNumber(1, 1_000_000),
    "pending agents at most; further registrations are refused with 429",
    { fallback: "10000" },
  ),
  SERVICE_STALE_AFTER: setting(type.threshold, "silence after which an agent is stale", {
    fallback: "120s",
  }),
  SERVICE_DEAD_AFTER: setting(type.threshold, "silence after which an agent is dead", { fallback: "300s" }),
  SERVICE_ACK_FOR: setting(type.threshold, "how long an acknowledgement lasts unless it says otherwise", {
    fallback: "8h",
  }),
  SERVICE_ACK_MAX: setting(type.threshold, "how long an acknowledgement may last", { fallback: "7d" }),
  SERVICE_HEARTBEAT_RATE: setting(type.rate, "heartbeats allowed for each agent key", { fallback: "120/60" }),
  SERVICE_REGISTRATION_RATE: setting(
    type.rate,
    "heartbeats with unknown keys allowed for each client address",
    { fallback: "600/300" },
  ),
  SERVICE_TRUST_PROXY: setting(
    type.wholeNumber(1, 16),
    "number of proxies to trust for X-Forwarded-For; 1 uses its last address",
    { whenUnset: "none; the client address is that of the connection" },
  ),
  SERVICE_ALLOWED_ORIGINS: setting(
    type.origins,
    "origins whose pages may call the API from browsers (CORS)",
    NONE,
  ),
  SERVICE_NOTIFIERS: setting(type.settingsReceivers, "notifiers to use", {
    whenUnset: "debug, and each one that is configured",
  }),
  SERVICE_EXTENSIONS: setting(
    type.modules,
    "modules of your own with notifiers or a storage (docs/writing-a-notifier.md)",
    NONE,
  ),
  SERVICE_POLICY_FILE: setting(
    type.text("the path of a file"),
    "policy: receivers, routes and maintenance windows (docs/policy.md); SIGHUP reads it again",
    { whenUnset: "none; every notifier is notified of everything" },
  ),
  SERVICE_WEBHOOK_URL: setting(type.address, "address that the webhook notifier posts to", {
    whenUnset: "no webhook",
  }),
  SERVICE_WEBHOOK_SECRET: setting(
    type.webhookSecrets,
    "secret that signs webhooks (Standard Webhooks); several during a rotation",
    { whenUnset: "none; required with SERVICE_WEBHOOK_URL" },
  ),
  SERVICE_PUBLIC_URL: setting(type.publicUrl, "address at which people reach Tocsin, for links in messages", {
    whenUnset: "no links",
  }),
  SERVICE_MESSAGE_DETAILS: setting(
    type.flag,
    "whether messages have details of the worst check: labels, output, source, times (docs/notifications.md#details)",
    { fallback: "true" },
  ),
  SERVICE_CONSOLE: setting(type.oneOf(["on", "off"]), "whether browsers get the console at /", {
    fallback: "on",
  }),
  SERVICE_ALERT_ROUTER_URL: setting(type.address, "base address of a Prometheus Alertmanager", {
    whenUnset: "no alert router",
  }),
  SERVICE_MESSENGER_URL: setting(type.address, "a Slack-compatible incoming webhook", {
    whenUnset: "no messenger, unless SERVICE_TELEGRAM_TOKEN is set",
  }),
  SERVICE_TELEGRAM_TOKEN: setting(
    type.secretWord("the token that BotFather gave, without spaces"),
    "token of a Telegram bot; needs SERVICE_TELEGRAM_CHAT",
    { whenUnset: "no Telegram" },
  ),
  SERVICE_TELEGRAM_CHAT: setting(
    type.word("the id of a chat, or @ and the name of a channel"),
    "Telegram chat that the bot writes to",
    { whenUnset: "no Telegram" },
  ),
  SERVICE_SMTP_URL: setting(
    type.mailServer,
    "mail server: smtp:// with STARTTLS (without TLS if it ends with ?tls=off) or smtps://, user and password percent-encoded",
    { whenUnset: "no e-mail" },
  ),
  SERVICE_EMAIL_FROM: setting(type.mailSender, "sender of mails", {
    whenUnset: "none; required with SERVICE_SMTP_URL",
  }),
  SERVICE_EMAIL_TO: setting(type.mailRecipients, "recipients of mails", {
    whenUnset: "the recipients of the policy's receivers",
  }),
  SERVICE_NTFY_URL: setting(type.address, "an ntfy topic", { whenUnset: "no ntfy" }),
  SERVICE_DISCORD_URL: setting(type.address, "a Discord webhook", { whenUnset: "no Discord" }),
  SERVICE_TEAMS_URL: setting(type.address, "a Microsoft Teams workflow", { whenUnset: "no Teams" }),
  SERVICE_PAGERDUTY_KEY: setting(
    type.secretWord("an integration key of PagerDuty, without spaces"),
    "integration key of a PagerDuty service",
    { whenUnset: "no PagerDuty" },
  ),
  SERVICE_DENY_PRIVATE_TARGETS: setting(
    type.flag,
    "whether notifiers refuse private addresses; they always refuse link-local ones",
    { fallback: "false" },
  ),
  SERVICE_DELIVERY_LEASE: setting(
    type.duration,
    "how long a delivery attempt holds its notification; below 15s it shortens the send timeout",
    { fallback: "60s" },
  ),
  SERVICE_DELIVERY_CONCURRENCY: setting(
    type.wholeNumber(1, 1_000),
    "concurrent delivery attempts for each notifier; a hanging one takes up to 15s",
    { fallback: "32" },
  ),
  SERVICE_WATCHDOG_URL: setting(
    type.address,
    "address to call while all is well (healthchecks.io and similar); problems are sent to /fail below it",
    { whenUnset: "no watchdog ping" },
  ),
  SERVICE_WATCHDOG_INTERVAL: setting(type.duration, "time between two watchdog pings", { fallback: "60s" }),
  SERVICE_RETENTION_HISTORY: setting(
    type.keepFor,
    "how long history is kept; the newest row of each check stays",
    { fallback: "93d" },
  ),
  SERVICE_RETENTION_INCIDENTS: setting(type.keepFor, "how long resolved incidents are kept", {
    fallback: "365d",
  }),
  SERVICE_RETENTION_OUTBOX: setting(
    type.keepFor,
    "how long sent, failed and discarded notifications are kept",
    {
      fallback: "30d",
    },
  ),
  SERVICE_RETENTION_PENDING: setting(
    type.keepFor,
    "how long a pending agent is kept after its last heartbeat",
    { fallback: "7d" },
  ),
  SERVICE_RETENTION_AUDIT: setting(type.keepFor, "how long the audit is kept", { fallback: "400d" }),
  SERVICE_STORAGE_TIMEOUT: setting(
    type.duration,
    "time that the storage has to answer before a request fails with 500",
    { fallback: "10s" },
  ),
  SERVICE_METRICS_TOKEN: setting(
    type.metricsToken,
    "additional token for /metrics; open lets everyone read it",
    { whenUnset: "none; /metrics takes a token of SERVICE_AUTH_TOKEN or SERVICE_READ_TOKEN" },
  ),
  SERVICE_LOG_FORMAT: setting(type.oneOf(["json", "pretty"]), "format of the log on standard error", {
    whenUnset: "json; pretty on a terminal",
  }),
  SERVICE_LOG_LEVEL: setting(
    type.oneOf(["trace", "debug", "info", "warn", "error"]),
    "lowest level that is logged; debug has one line a request",
    { fallback: "info" },
  ),
  ...telemetrySettings,
} as const

type Placed<Part> = Part extends { readonly settings: infer Given } ? SettingsIn<Given> : never
type Definitions = typeof common & Together<Placed<(typeof features)[number]>>

const placed = features.map(({ settings }): PlacedSettings => settings)

/** Settings, each with those behind it that features place there. */
const withPlaced = (
  settings: Readonly<Record<string, type.Setting<unknown>>>,
): ReadonlyArray<readonly [string, type.Setting<unknown>]> =>
  Object.entries(settings).flatMap(([name, of]) => [
    [name, of] as const,
    ...placed.flatMap((each) => withPlaced(each[name] ?? {})),
  ])

/** Every setting of the server, by its environment variable, in the order of `tocsin serve --help`. */
// The entries of the objects whose type it is.
export const definitions = Object.fromEntries(withPlaced(common)) as Definitions

/** The settings as parsed; those without a fallback are `undefined` when unset. */
export type Settings = type.ValuesOf<Definitions> & {
  /** Of the modules of SERVICE_EXTENSIONS; absent without any. */
  readonly extensions?: Extensions | undefined
  /** Of operators, while a storage is open (docs/rules.md#stored-settings). */
  readonly stored?: StoredSettings | undefined
}

import { addressesOfMail } from "./receiversOfKuma.ts"
import type { MovedPolicy } from "./MovedPolicy.ts"
import { isMap, type Options, text } from "./probeOfGatus.ts"

type Secret = (part: string, value: unknown) => string

/** A provider as a receiver: the settings that it needs, others that are taken, and the receiver. */
interface Provider {
  readonly needs: ReadonlyArray<string>
  readonly takes?: ReadonlyArray<string>
  readonly make: (config: Options, secret: Secret) => object
}

const byUrl = (receiver: object = {}): Provider => ({
  needs: ["webhook-url"],
  make: (config, secret) => ({
    kind: "messenger",
    ...receiver,
    url_env: secret("URL", config["webhook-url"]),
  }),
})

const SECURE_PORT = 465

const mail: Provider = {
  needs: ["from", "host", "port", "to"],
  takes: ["username", "password"],
  make: (config, secret) => {
    const [from, password] = [text(config["from"]), text(config["password"])]
    const user = encodeURIComponent(text(config["username"]) || from)
    const sign = password === "" ? "" : `${user}:${encodeURIComponent(password)}@`
    const scheme = Number(config["port"]) === SECURE_PORT ? "smtps" : "smtp"
    const url = `${scheme}://${sign}${text(config["host"])}:${text(config["port"])}`
    return {
      kind: "messenger",
      type: "email",
      url_env: secret("URL", url),
      from,
      to: addressesOfMail(config["to"]),
    }
  },
}

/** Receivers of alerting providers by their types. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  slack: byUrl(),
  discord: byUrl({ type: "discord" }),
  mattermost: byUrl({ type: "mattermost" }),
  rocketchat: byUrl({ type: "rocket_chat" }),
  teams: byUrl({ type: "teams" }),
  "teams-workflows": byUrl({ type: "teams" }),
  googlechat: byUrl({ type: "google_chat" }),
  email: mail,
  telegram: {
    needs: ["token", "id"],
    make: (config, secret) => ({
      kind: "messenger",
      telegram_token_env: secret("TOKEN", config["token"]),
      telegram_chat: text(config["id"]),
    }),
  },
  matrix: {
    needs: ["access-token", "internal-room-id"],
    takes: ["server-url"],
    make: (config, secret) => ({
      kind: "messenger",
      type: "matrix",
      url_env: secret("URL", text(config["server-url"]) || "https://matrix-client.matrix.org"),
      room: text(config["internal-room-id"]),
      token_env: secret("TOKEN", config["access-token"]),
    }),
  },
  zulip: {
    needs: ["bot-email", "bot-api-key", "domain", "channel-id"],
    make: (config, secret) => ({
      kind: "messenger",
      type: "zulip",
      url_env: secret("URL", `https://${text(config["domain"])}`),
      user: text(config["bot-email"]),
      token_env: secret("TOKEN", config["bot-api-key"]),
      stream: text(config["channel-id"]),
      topic: "Gatus",
    }),
  },
  pagerduty: {
    needs: ["integration-key"],
    make: (config, secret) => ({
      kind: "alert_router",
      type: "pagerduty",
      routing_key_env: secret("KEY", config["integration-key"]),
    }),
  },
  opsgenie: {
    needs: ["api-key"],
    make: (config, secret) => ({
      kind: "alert_router",
      type: "opsgenie",
      key_env: secret("KEY", config["api-key"]),
    }),
  },
  gotify: {
    needs: ["server-url", "token"],
    make: (config, secret) => ({
      kind: "messenger",
      type: "gotify",
      url_env: secret("URL", config["server-url"]),
      token_env: secret("TOKEN", config["token"]),
    }),
  },
  pushover: {
    needs: ["application-token", "user-key"],
    make: (config, secret) => ({
      kind: "messenger",
      type: "pushover",
      token_env: secret("TOKEN", config["application-token"]),
      user_env: secret("USER", config["user-key"]),
    }),
  },
  ntfy: {
    needs: ["topic"],
    takes: ["url", "token"],
    make: (config, secret) => ({
      kind: "messenger",
      type: "ntfy",
      url_env: secret("URL", `${text(config["url"]) || "https://ntfy.sh"}/${text(config["topic"])}`),
      ...(text(config["token"]) && { token_env: secret("TOKEN", config["token"]) }),
    }),
  },
}

/** The receivers of providers by their types; those without an equal are named. */
export const receiversOf = (moved: MovedPolicy, alerting: Options): ReadonlyMap<string, string> => {
  const made = Object.entries(alerting).flatMap(([type, config]) => {
    if (!isMap(config)) return []
    const provider = Object.hasOwn(PROVIDERS, type) ? PROVIDERS[type] : undefined
    const lacked = provider?.needs.find((name) => text(config[name]) === "")
    if (provider === undefined || lacked !== undefined) {
      moved.leave(type, lacked ? `the alerting has no ${lacked}` : "alerting by it has no equal here")
      return []
    }
    const known = new Set(["default-alert", ...provider.needs, ...(provider.takes ?? [])])
    const left = Object.keys(config).filter((name) => !known.has(name))
    if (left.length > 0) moved.leave(type, `settings of the alerting: ${left.join(", ")}`)
    const secret: Secret = (part, value) => moved.secret(`${type}_${part}`, String(value ?? "")).env
    return [[type, provider.make(config, secret)] as const]
  })
  const nameOf = moved.receivers(made)
  return new Map(
    made.flatMap(([type]) => {
      const taken = nameOf(type)
      return taken === undefined ? [] : [[type, taken]]
    }),
  )
}

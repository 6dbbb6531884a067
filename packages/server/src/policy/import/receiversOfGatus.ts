import type { MovedPolicy } from "./MovedPolicy.ts"
import { isMap, type Options, text } from "./probeOfGatus.ts"

/** Receivers of alerting providers by their types. */
const RECEIVERS: Readonly<
  Record<
    string,
    (name: string, config: Options, secret: (part: string, value: unknown) => string) => object | undefined
  >
> = {
  slack: (_, config, secret) => ({ kind: "messenger", url_env: secret("URL", config["webhook-url"]) }),
  discord: (_, config, secret) => ({
    kind: "messenger",
    type: "discord",
    url_env: secret("URL", config["webhook-url"]),
  }),
  mattermost: (_, config, secret) => ({
    kind: "messenger",
    type: "mattermost",
    url_env: secret("URL", config["webhook-url"]),
  }),
  teams: (_, config, secret) => ({
    kind: "messenger",
    type: "teams",
    url_env: secret("URL", config["webhook-url"]),
  }),
  googlechat: (_, config, secret) => ({
    kind: "messenger",
    type: "google_chat",
    url_env: secret("URL", config["webhook-url"]),
  }),
  telegram: (_, config, secret) => ({
    kind: "messenger",
    telegram_token_env: secret("TOKEN", config["token"]),
    telegram_chat: String(config["id"] ?? ""),
  }),
  pagerduty: (_, config, secret) => ({
    kind: "alert_router",
    type: "pagerduty",
    routing_key_env: secret("KEY", config["integration-key"]),
  }),
  opsgenie: (_, config, secret) => ({
    kind: "alert_router",
    type: "opsgenie",
    key_env: secret("KEY", config["api-key"]),
  }),
  gotify: (_, config, secret) => ({
    kind: "messenger",
    type: "gotify",
    url_env: secret("URL", config["server-url"]),
    token_env: secret("TOKEN", config["token"]),
  }),
  pushover: (_, config, secret) => ({
    kind: "messenger",
    type: "pushover",
    token_env: secret("TOKEN", config["application-token"]),
    user_env: secret("USER", config["user-key"]),
  }),
  ntfy: (_, config, secret) => ({
    kind: "messenger",
    type: "ntfy",
    url_env: secret("URL", `${text(config["url"]) || "https://ntfy.sh"}/${text(config["topic"])}`),
    ...(text(config["token"]) && { token_env: secret("TOKEN", config["token"]) }),
  }),
}

/** The receivers of providers by their types; those without an equal are named. */
export const receiversOf = (moved: MovedPolicy, alerting: unknown): ReadonlyMap<string, string> => {
  const made = Object.entries(isMap(alerting) ? alerting : {}).flatMap(([type, config]) => {
    if (!isMap(config)) return []
    const secret = (part: string, value: unknown) => moved.secret(`${type}_${part}`, String(value ?? "")).env
    const receiver = Object.hasOwn(RECEIVERS, type) ? RECEIVERS[type]?.(type, config, secret) : undefined
    if (receiver === undefined) {
      moved.leave(type, "alerting by it has no equal here")
      return []
    }
    return [[type, receiver] as const]
  })
  const nameOf = moved.receivers(made)
  return new Map(made.map(([type]) => [type, nameOf(type)]))
}

import {
  addressesOfMail,
  alertRouter,
  mailServer,
  messenger,
  type MovedReceivers,
  moveReceiver,
  text,
} from "./movedReceivers.ts"
import type { MovedPolicy } from "./MovedPolicy.ts"
import { isMap, type Options } from "./probeOfGatus.ts"

const byUrl = (type?: string) => messenger(type, { url_env: "webhook-url" })

const SECURE_PORT = 465

/** Receivers of alerting providers by their types. */
const PROVIDERS: MovedReceivers = {
  slack: byUrl(),
  discord: byUrl("discord"),
  mattermost: byUrl("mattermost"),
  rocketchat: byUrl("rocket_chat"),
  teams: byUrl("teams"),
  "teams-workflows": byUrl("teams"),
  googlechat: byUrl("google_chat"),
  email: messenger(
    "email",
    {
      url_env: ({ from, host, password, port, username }) =>
        mailServer(
          Number(port) === SECURE_PORT ? "smtps" : "smtp",
          text(username) || text(from),
          text(password) || undefined,
          `${text(host)}:${text(port)}`,
        ),
      from: ({ from }) => text(from),
      to: ({ to }) => addressesOfMail(to),
    },
    { needs: ["from", "host", "port", "to"], takes: ["username", "password"] },
  ),
  telegram: messenger(undefined, { telegram_token_env: "token", telegram_chat: "id" }),
  matrix: messenger(
    "matrix",
    {
      url_env: ({ "server-url": url }) => text(url) || "https://matrix-client.matrix.org",
      room: "internal-room-id",
      token_env: "access-token",
    },
    { takes: ["server-url"] },
  ),
  zulip: messenger(
    "zulip",
    {
      url_env: ({ domain }) => `https://${text(domain)}`,
      user: "bot-email",
      token_env: "bot-api-key",
      stream: "channel-id",
      topic: () => "Gatus",
    },
    { needs: ["domain"] },
  ),
  pagerduty: alertRouter("pagerduty", { routing_key_env: "integration-key" }),
  opsgenie: alertRouter("opsgenie", { key_env: "api-key" }),
  gotify: messenger("gotify", { url_env: "server-url", token_env: "token" }),
  pushover: messenger("pushover", { token_env: "application-token", user_env: "user-key" }),
  ntfy: messenger(
    "ntfy",
    {
      url_env: ({ topic, url }) => `${text(url) || "https://ntfy.sh"}/${text(topic)}`,
      token_env: ({ token }) => text(token) || undefined,
    },
    { needs: ["topic"], takes: ["url", "token"] },
  ),
}

/** The receivers of providers by their types; those without an equal are named. */
export const receiversOf = (moved: MovedPolicy, alerting: Options): ReadonlyMap<string, string> => {
  const made = Object.entries(alerting).flatMap(([type, config]) => {
    if (!isMap(config)) return []
    const provider = Object.hasOwn(PROVIDERS, type) ? PROVIDERS[type] : undefined
    const one = provider && moveReceiver(moved, provider, config, type)
    if (one === undefined || typeof one === "string") {
      moved.leave(type, one?.replace(/^it/u, "the alerting") ?? "alerting by it has no equal here")
      return []
    }
    const left = one.left.filter((name) => name !== "default-alert")
    if (left.length > 0) moved.leave(type, `settings of the alerting: ${left.join(", ")}`)
    return [[type, one.receiver] as const]
  })
  const nameOf = moved.receivers(made)
  return new Map(
    made.flatMap(([type]) => {
      const taken = nameOf(type)
      return taken === undefined ? [] : [[type, taken]]
    }),
  )
}

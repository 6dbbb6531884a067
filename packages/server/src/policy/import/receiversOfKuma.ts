import { randomBytes } from "node:crypto"
import { MAIL_ADDRESS, MAIL_SENDER } from "@tocsin/contract/receivers/ReceiverTypes"
import type { MovedPolicy, Taken } from "./MovedPolicy.ts"

/** A receiver of the policy, and the settings of the other program that it has; a text says why there is none. */
interface Made {
  readonly receiver: object
  readonly taken: ReadonlyArray<string>
}

type Secret = (part: string, value: unknown) => string

const text = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

/** A receiver whose address is its only secret. */
const byUrl =
  (key: string, receiver: object = { kind: "messenger" }) =>
  (config: Taken, secret: Secret): Made | string =>
    text(config[key]) === ""
      ? `it has no ${key}`
      : { receiver: { ...receiver, url_env: secret("URL", config[key]) }, taken: [key] }

/** Addresses of mail, separated by commas, without the names of people. */
export const addressesOfMail = (value: unknown): ReadonlyArray<string> =>
  text(value)
    .split(",")
    .flatMap((one) => MAIL_SENDER.exec(one.trim())?.groups?.["inner"] ?? (one.trim() || []))

const mail = (config: Taken, secret: Secret): Made | string => {
  const { smtpHost, smtpPassword, smtpPort, smtpSecure, smtpUsername } = config
  const [from, to, cc] = [
    text(config["smtpFrom"]),
    addressesOfMail(config["smtpTo"]),
    addressesOfMail(config["smtpCC"]),
  ]
  if (!MAIL_SENDER.test(from) || to.length === 0 || ![...to, ...cc].every((one) => MAIL_ADDRESS.test(one)))
    return "its addresses cannot be read"
  const user =
    text(smtpUsername) === ""
      ? ""
      : `${encodeURIComponent(text(smtpUsername))}:${encodeURIComponent(String(smtpPassword ?? ""))}@`
  const url = `${smtpSecure === true ? "smtps" : "smtp"}://${user}${text(smtpHost)}:${smtpPort ?? 25}`
  const isOpen = smtpSecure !== true && config["smtpIgnoreSTARTTLS"] === true
  return {
    receiver: {
      kind: "messenger",
      type: "email",
      url_env: secret("URL", url),
      from,
      to,
      ...(cc.length > 0 && { cc }),
      ...(isOpen && { tls: "off" }),
    },
    taken:
      "smtpHost smtpPort smtpSecure smtpUsername smtpPassword smtpFrom smtpTo smtpCC smtpIgnoreSTARTTLS".split(
        " ",
      ),
  }
}

/** Kuma signs nothing: its receiver gets a new signing secret. */
const webhook = (config: Taken, secret: Secret): Made | string => {
  const made = byUrl("webhookURL", { kind: "webhook" })(config, secret)
  if (typeof made === "string") return made
  const secret_env = secret("SECRET", `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`)
  return { ...made, receiver: { ...made.receiver, secret_env } }
}

const SECRET_BYTES = 32

const ntfy = (config: Taken, secret: Secret): Made | string => {
  const [server, topic, token] = ["ntfyserverurl", "ntfytopic", "ntfyaccesstoken"].map((key) =>
    text(config[key]),
  )
  if (!server || !topic) return "it has no server or topic"
  const method = config["ntfyAuthenticationMethod"]
  if (method === "usernamePassword") return "it signs in with a user and a password: create a token"
  return {
    receiver: {
      kind: "messenger",
      type: "ntfy",
      url_env: secret("URL", `${server.replace(/(?<!\/)\/+$/, "")}/${topic}`),
      ...(token && { token_env: secret("TOKEN", token) }),
    },
    taken: ["ntfyserverurl", "ntfytopic", "ntfyaccesstoken", "ntfyAuthenticationMethod"],
  }
}

const TYPES: Readonly<Record<string, (config: Taken, secret: Secret) => Made | string>> = {
  slack: byUrl("slackwebhookURL"),
  discord: byUrl("discordWebhookUrl", { kind: "messenger", type: "discord" }),
  teams: byUrl("webhookUrl", { kind: "messenger", type: "teams" }),
  mattermost: byUrl("mattermostWebhookUrl", { kind: "messenger", type: "mattermost" }),
  "rocket.chat": byUrl("rocketwebhookURL", { kind: "messenger", type: "rocket_chat" }),
  GoogleChat: byUrl("googleChatWebhookURL", { kind: "messenger", type: "google_chat" }),
  webhook,
  smtp: mail,
  ntfy,
  telegram: (config, secret) => ({
    receiver: {
      kind: "messenger",
      telegram_token_env: secret("TOKEN", config["telegramBotToken"]),
      telegram_chat: String(config["telegramChatID"] ?? ""),
    },
    taken: ["telegramBotToken", "telegramChatID"],
  }),
  gotify: (config, secret) => ({
    receiver: {
      kind: "messenger",
      type: "gotify",
      url_env: secret("URL", config["gotifyserverurl"]),
      token_env: secret("TOKEN", config["gotifyapplicationToken"]),
    },
    taken: ["gotifyserverurl", "gotifyapplicationToken"],
  }),
  pushover: (config, secret) => ({
    receiver: {
      kind: "messenger",
      type: "pushover",
      token_env: secret("TOKEN", config["pushoverapptoken"]),
      user_env: secret("USER", config["pushoveruserkey"]),
    },
    taken: ["pushoverapptoken", "pushoveruserkey"],
  }),
  matrix: (config, secret) => ({
    receiver: {
      kind: "messenger",
      type: "matrix",
      url_env: secret("URL", config["homeserverUrl"]),
      room: String(config["internalRoomId"] ?? ""),
      token_env: secret("TOKEN", config["accessToken"]),
    },
    taken: ["homeserverUrl", "internalRoomId", "accessToken"],
  }),
  PagerDuty: (config, secret) => {
    const { origin } = URL.parse(text(config["pagerdutyIntegrationUrl"])) ?? { origin: PAGERDUTY }
    return {
      receiver: {
        kind: "alert_router",
        type: "pagerduty",
        routing_key_env: secret("KEY", config["pagerdutyIntegrationKey"]),
        ...(origin !== PAGERDUTY && { url_env: secret("URL", origin) }),
      },
      taken: ["pagerdutyIntegrationKey", "pagerdutyIntegrationUrl", "pagerdutyAutoResolve"],
    }
  },
  Opsgenie: (config, secret) => ({
    receiver: {
      kind: "alert_router",
      type: "opsgenie",
      key_env: secret("KEY", config["opsgenieApiKey"]),
      ...(config["opsgenieRegion"] === "eu" && { url_env: secret("URL", "https://api.eu.opsgenie.com") }),
    },
    taken: ["opsgenieApiKey", "opsgenieRegion"],
  }),
}

const PAGERDUTY = "https://events.pagerduty.com"

/** Settings of every notification. */
const COMMON = new Set(["name", "type", "isDefault", "applyExisting", "id", "active", "userId"])

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && value !== false && value !== 0

/** The receivers of notifications by their IDs; those without an equal are named. */
export const receiversOfKuma = (
  moved: MovedPolicy,
  notifications: ReadonlyArray<{ readonly id: number; readonly name: string; readonly config: Taken }>,
): ReadonlyMap<number, string> => {
  const made = notifications.flatMap(({ config, id, name }) => {
    const secret: Secret = (part, value) => moved.secret(`${name}_${part}`, String(value ?? "")).env
    const type = String(config["type"])
    const one = Object.hasOwn(TYPES, type) ? TYPES[type]?.(config, secret) : undefined
    if (one === undefined || typeof one === "string") {
      moved.leave(
        name,
        one === undefined ? `a notification by ${type} has no equal` : `the notification: ${one}`,
      )
      return []
    }
    const left = Object.keys(config).filter(
      (setting) => !COMMON.has(setting) && !one.taken.includes(setting) && isSet(config[setting]),
    )
    if (left.length > 0) moved.leave(name, `settings of the notification: ${left.join(", ")}`)
    return [{ id, name, receiver: one.receiver }]
  })
  // Two notifications may have one name.
  const names = new Map<number, string>()
  const unique = made.map(({ id, name, receiver }, n) => {
    const isAgain = made.slice(0, n).some((other) => other.name === name)
    return { id, own: isAgain ? `${name} ${id}` : name, receiver }
  })
  const nameOf = moved.receivers(unique.map(({ own, receiver }) => [own, receiver] as const))
  for (const { id, own } of unique) {
    const taken = nameOf(own)
    if (taken !== undefined) names.set(id, taken)
  }
  return names
}

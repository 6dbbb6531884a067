import { randomBytes } from "node:crypto"
import { MAIL_ADDRESS, MAIL_SENDER } from "@tocsin/contract/receivers/ReceiverTypes"
import {
  addressesOfMail,
  alertRouter,
  mailServer,
  messenger,
  type MovedReceivers,
  moveReceiver,
  text,
} from "./movedReceivers.ts"
import type { MovedPolicy, Taken } from "./MovedPolicy.ts"

const SECRET_BYTES = 32
const PAGERDUTY = "https://events.pagerduty.com"

/** Receivers of notifications by their types. */
const TYPES: MovedReceivers = {
  slack: messenger(undefined, { url_env: "slackwebhookURL" }),
  discord: messenger("discord", { url_env: "discordWebhookUrl" }),
  teams: messenger("teams", { url_env: "webhookUrl" }),
  mattermost: messenger("mattermost", { url_env: "mattermostWebhookUrl" }),
  "rocket.chat": messenger("rocket_chat", { url_env: "rocketwebhookURL" }),
  GoogleChat: messenger("google_chat", { url_env: "googleChatWebhookURL" }),
  webhook: {
    receiver: { kind: "webhook" },
    fields: {
      url_env: "webhookURL",
      // Kuma signs nothing: its receiver gets a new signing secret.
      secret_env: () => `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`,
    },
  },
  smtp: messenger(
    "email",
    {
      url_env: ({ smtpHost, smtpPassword, smtpPort, smtpSecure, smtpUsername }) =>
        mailServer(
          smtpSecure === true ? "smtps" : "smtp",
          text(smtpUsername),
          text(smtpUsername) === "" ? undefined : String(smtpPassword ?? ""),
          `${text(smtpHost)}:${String(smtpPort ?? 25)}`,
        ),
      from: ({ smtpFrom }) => text(smtpFrom),
      to: ({ smtpTo }) => addressesOfMail(smtpTo),
      cc: ({ smtpCC }) => (text(smtpCC) === "" ? undefined : addressesOfMail(smtpCC)),
      tls: ({ smtpIgnoreSTARTTLS, smtpSecure }) =>
        smtpSecure !== true && smtpIgnoreSTARTTLS === true ? "off" : undefined,
    },
    {
      takes: [
        ..."smtpHost smtpPort smtpSecure smtpUsername smtpPassword".split(" "),
        ..."smtpFrom smtpTo smtpCC smtpIgnoreSTARTTLS".split(" "),
      ],
      refusalOf: ({ smtpCC, smtpFrom, smtpTo }) => {
        const to = addressesOfMail(smtpTo)
        const isSound = [...to, ...addressesOfMail(smtpCC)].every((one) => MAIL_ADDRESS.test(one))
        return MAIL_SENDER.test(text(smtpFrom)) && to.length > 0 && isSound
          ? undefined
          : "its addresses cannot be read"
      },
    },
  ),
  ntfy: messenger(
    "ntfy",
    {
      url_env: ({ ntfyserverurl, ntfytopic }) =>
        `${text(ntfyserverurl).replace(/(?<!\/)\/+$/, "")}/${text(ntfytopic)}`,
      token_env: ({ ntfyaccesstoken }) => text(ntfyaccesstoken) || undefined,
    },
    {
      takes: ["ntfyserverurl", "ntfytopic", "ntfyaccesstoken", "ntfyAuthenticationMethod"],
      refusalOf: ({ ntfyAuthenticationMethod, ntfyserverurl, ntfytopic }) => {
        if (!text(ntfyserverurl) || !text(ntfytopic)) return "it has no server or topic"
        return ntfyAuthenticationMethod === "usernamePassword"
          ? "it signs in with a user and a password: create a token"
          : undefined
      },
    },
  ),
  telegram: messenger(undefined, {
    telegram_token_env: "telegramBotToken",
    telegram_chat: "telegramChatID",
  }),
  gotify: messenger("gotify", { url_env: "gotifyserverurl", token_env: "gotifyapplicationToken" }),
  pushover: messenger("pushover", { token_env: "pushoverapptoken", user_env: "pushoveruserkey" }),
  matrix: messenger("matrix", {
    url_env: "homeserverUrl",
    room: "internalRoomId",
    token_env: "accessToken",
  }),
  PagerDuty: alertRouter(
    "pagerduty",
    {
      routing_key_env: "pagerdutyIntegrationKey",
      url_env: ({ pagerdutyIntegrationUrl }) => {
        const { origin } = URL.parse(text(pagerdutyIntegrationUrl)) ?? { origin: PAGERDUTY }
        return origin === PAGERDUTY ? undefined : origin
      },
    },
    { takes: ["pagerdutyIntegrationUrl", "pagerdutyAutoResolve"] },
  ),
  Opsgenie: alertRouter(
    "opsgenie",
    {
      key_env: "opsgenieApiKey",
      url_env: ({ opsgenieRegion }) => (opsgenieRegion === "eu" ? "https://api.eu.opsgenie.com" : undefined),
    },
    { takes: ["opsgenieRegion"] },
  ),
}

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
    const type = String(config["type"])
    const row = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
    const one = row && moveReceiver(moved, row, config, name)
    if (one === undefined || typeof one === "string") {
      moved.leave(
        name,
        one === undefined ? `a notification by ${type} has no equal` : `the notification: ${one}`,
      )
      return []
    }
    const left = one.left.filter((setting) => !COMMON.has(setting) && isSet(config[setting]))
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

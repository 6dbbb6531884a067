import * as ConfiguredNotifiers from "@tocsin/adapter-notify/ConfiguredNotifiers"
import type { Ids } from "@tocsin/core/ports/Ids"
import type { Notifiers } from "@tocsin/core/ports/Notifiers"
import { Layer } from "effect"
import { enabledNotifiers } from "./rules.ts"
import type { Settings } from "./settings/Settings.ts"

/** The notifiers of these settings. An invalid setting was reported before; here it is a defect. */
export const notifiersLayer = (settings: Settings): Layer.Layer<Notifiers, never, Ids> => {
  const isEnabled = new Set(enabledNotifiers(settings))
  const { SERVICE_WEBHOOK_URL, SERVICE_WEBHOOK_SECRET, SERVICE_ALERT_ROUTER_URL } = settings
  return Layer.orDie(
    ConfiguredNotifiers.layer({
      debug: isEnabled.has("debug"),
      webhook:
        isEnabled.has("webhook") && SERVICE_WEBHOOK_URL !== undefined
          ? { url: SERVICE_WEBHOOK_URL, secrets: SERVICE_WEBHOOK_SECRET ?? [] }
          : undefined,
      messenger: isEnabled.has("messenger") ? messenger(settings) : undefined,
      alertRouter:
        isEnabled.has("alert_router") && SERVICE_ALERT_ROUTER_URL !== undefined
          ? { url: SERVICE_ALERT_ROUTER_URL }
          : undefined,
      typed: typed(settings).filter(({ definition }) => isEnabled.has(definition.type)),
      denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS,
      lease: settings.SERVICE_DELIVERY_LEASE,
    }),
  )
}

/** The receivers of types that are configured. */
const typed = (settings: Settings) => {
  const { SERVICE_DISCORD_URL, SERVICE_NTFY_URL, SERVICE_PAGERDUTY_KEY, SERVICE_TEAMS_URL } = settings
  const chats = { discord: SERVICE_DISCORD_URL, ntfy: SERVICE_NTFY_URL, teams: SERVICE_TEAMS_URL }
  return [
    ...email(settings),
    ...(["ntfy", "discord", "teams"] as const).flatMap((type) => {
      const url = chats[type]
      return url === undefined ? [] : [{ definition: { kind: "messenger", type }, secrets: { url } } as const]
    }),
    ...(SERVICE_PAGERDUTY_KEY === undefined
      ? []
      : [
          {
            definition: { kind: "alert_router", type: "pagerduty" },
            secrets: { routing_key: SERVICE_PAGERDUTY_KEY },
          } as const,
        ]),
  ]
}

const email = ({ SERVICE_EMAIL_FROM, SERVICE_EMAIL_TO, SERVICE_SMTP_URL }: Settings) =>
  SERVICE_SMTP_URL === undefined || SERVICE_EMAIL_FROM === undefined || SERVICE_EMAIL_TO === undefined
    ? []
    : [
        {
          definition: { kind: "messenger", type: "email", from: SERVICE_EMAIL_FROM, to: SERVICE_EMAIL_TO },
          secrets: { url: SERVICE_SMTP_URL },
        } as const,
      ]

const messenger = ({ SERVICE_MESSENGER_URL, SERVICE_TELEGRAM_TOKEN, SERVICE_TELEGRAM_CHAT }: Settings) => {
  if (SERVICE_MESSENGER_URL !== undefined) return { form: "slack", url: SERVICE_MESSENGER_URL } as const
  return SERVICE_TELEGRAM_TOKEN === undefined || SERVICE_TELEGRAM_CHAT === undefined
    ? undefined
    : ({ form: "telegram", token: SERVICE_TELEGRAM_TOKEN, chat: SERVICE_TELEGRAM_CHAT } as const)
}

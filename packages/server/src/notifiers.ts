import * as ConfiguredNotifiers from "@tocsin/adapter-notify/ConfiguredNotifiers"
import type { NotifierName } from "@tocsin/core/contract/Status"
import type { Ids } from "@tocsin/core/ports/Ids"
import { type Notifier, Notifiers } from "@tocsin/core/ports/Notifiers"
import { Effect, Layer } from "effect"
import { enabledNotifiers } from "./rules.ts"
import type { Secrets } from "./Secrets.ts"
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
          ? {
              url: SERVICE_WEBHOOK_URL,
              secrets: SERVICE_WEBHOOK_SECRET ?? [],
              publicUrl: settings.SERVICE_PUBLIC_URL,
            }
          : undefined,
      messenger: isEnabled.has("messenger") ? messenger(settings) : undefined,
      alertRouter:
        isEnabled.has("alert_router") && SERVICE_ALERT_ROUTER_URL !== undefined
          ? { url: SERVICE_ALERT_ROUTER_URL }
          : undefined,
      denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS,
      lease: settings.SERVICE_DELIVERY_LEASE,
    }),
  )
}

const messenger = ({ SERVICE_MESSENGER_URL, SERVICE_TELEGRAM_TOKEN, SERVICE_TELEGRAM_CHAT }: Settings) => {
  if (SERVICE_MESSENGER_URL !== undefined) return { form: "slack", url: SERVICE_MESSENGER_URL } as const
  return SERVICE_TELEGRAM_TOKEN === undefined || SERVICE_TELEGRAM_CHAT === undefined
    ? undefined
    : ({ form: "telegram", token: SERVICE_TELEGRAM_TOKEN, chat: SERVICE_TELEGRAM_CHAT } as const)
}

/** The same notifiers; their addresses and secrets follow the settings. */
export const followingNotifiers = (secrets: Secrets): Layer.Layer<Notifiers, never, Ids> =>
  Layer.effect(
    Notifiers,
    Effect.map(secrets.service(Notifiers, notifiersLayer), (latest) => {
      const following = ([name, initial]: readonly [NotifierName, Notifier]) => {
        const { kind, resend } = initial
        const now = () => latest().get(name) ?? initial
        const follower: Notifier = {
          kind,
          send: (notification) => now().send(notification),
          test: Effect.suspend(() => now().test),
          ...(resend && { resend: (alerts) => (now().resend ?? resend)(alerts) }),
        }
        return [name, follower] as const
      }
      return new Map(Array.from(latest(), following))
    }),
  )

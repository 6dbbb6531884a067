import * as ConfiguredNotifiers from "@tocsin/adapter-notify/ConfiguredNotifiers"
import type { Ids } from "@tocsin/core/ports/Ids"
import type { NotifierName } from "@tocsin/core/contract/Status"
import { type Notifier, Notifiers } from "@tocsin/core/ports/Notifiers"
import { Context, Effect, Layer } from "effect"
import { enabledNotifiers } from "./policy.ts"
import type { Secrets } from "./Secrets.ts"
import type { Settings } from "./settings/Settings.ts"

/** The notifiers that the settings ask for, ready to send. A bad setting was told of before; here it is a defect. */
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
      denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS,
      lease: settings.SERVICE_DELIVERY_LEASE,
    }),
  )
}

/** The same, whose secrets are those that the settings come to hold. */
export const followingNotifiers = (secrets: Secrets): Layer.Layer<Notifiers, never, Ids> =>
  Layer.effect(
    Notifiers,
    Effect.gen(function* () {
      const made = yield* secrets.follow((settings) =>
        Effect.map(Layer.build(Layer.fresh(notifiersLayer(settings))), (context) =>
          Context.get(context, Notifiers),
        ),
      )
      const initial = made()
      const now = (name: NotifierName, former: Notifier): Notifier => made().get(name) ?? former
      const following = ([name, notifier]: readonly [NotifierName, Notifier]) => {
        const { resend } = notifier
        const follower: Notifier = {
          kind: notifier.kind,
          send: (notification) => now(name, notifier).send(notification),
          test: Effect.suspend(() => now(name, notifier).test),
          ...(resend !== undefined && {
            resend: (alerts) => (now(name, notifier).resend ?? resend)(alerts),
          }),
        }
        return [name, follower] as const
      }
      return new Map(Array.from(initial, following))
    }),
  )

const messenger = ({ SERVICE_MESSENGER_URL, SERVICE_TELEGRAM_TOKEN, SERVICE_TELEGRAM_CHAT }: Settings) => {
  if (SERVICE_MESSENGER_URL !== undefined) return { form: "slack", url: SERVICE_MESSENGER_URL } as const
  return SERVICE_TELEGRAM_TOKEN === undefined || SERVICE_TELEGRAM_CHAT === undefined
    ? undefined
    : ({ form: "telegram", token: SERVICE_TELEGRAM_TOKEN, chat: SERVICE_TELEGRAM_CHAT } as const)
}

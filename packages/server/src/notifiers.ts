import { mailTimeout, sendTimeout } from "@tocsin/adapter-notify/http/HttpPost"
import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import { makeReceiver, type ReceiverSecrets } from "@tocsin/adapter-notify/policyReceivers"
import * as HttpWatchdogReceiver from "@tocsin/adapter-notify/watchdog/HttpWatchdogReceiver"
import type { Receiver } from "@tocsin/contract/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/Status"
import type { Notifier, WatchdogReceiver } from "@tocsin/core/ports/Notifiers"
import { Effect, type Layer, Redacted, Result } from "effect"
import { enabledNotifiers } from "./rules.ts"
import type { Settings } from "./settings/Settings.ts"

/** How receivers post. */
export const postingOf = (settings: Settings) => ({
  denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS,
  timeout: sendTimeout(settings.SERVICE_DELIVERY_LEASE),
  mailTimeout: mailTimeout(settings.SERVICE_DELIVERY_LEASE),
})

/**
 * The receivers of a policy that defines none, each named by its type, or else its kind. An invalid setting was
 * reported before; here it is a defect.
 */
export const receiversOfSettings = Effect.fnUntraced(function* (settings: Settings) {
  const enabled: ReadonlySet<string> = new Set(enabledNotifiers(settings))
  const made = new Map<NotifierName, Notifier>()
  for (const { definition, secrets } of configured(settings)) {
    const name = ("type" in definition ? definition.type : undefined) ?? definition.kind
    if (!enabled.has(name)) continue
    made.set(name, yield* Effect.orDie(makeReceiver(definition, secrets, postingOf(settings))))
  }
  return made
})

interface Configured {
  readonly definition: Receiver
  readonly secrets: ReceiverSecrets
}

const given = <A>(value: A | undefined, receiver: (value: A) => Configured): ReadonlyArray<Configured> =>
  value === undefined ? [] : [receiver(value)]

const configured = (settings: Settings): ReadonlyArray<Configured> => {
  const secret = settings.SERVICE_WEBHOOK_SECRET?.map(Redacted.value).join(" ")
  const from = settings.SERVICE_EMAIL_FROM
  const to = settings.SERVICE_EMAIL_TO
  const chats = {
    ntfy: settings.SERVICE_NTFY_URL,
    discord: settings.SERVICE_DISCORD_URL,
    teams: settings.SERVICE_TEAMS_URL,
  } as const
  return [
    { definition: { kind: "debug" }, secrets: {} },
    ...given(settings.SERVICE_WEBHOOK_URL, (url) => ({
      definition: { kind: "webhook" },
      secrets: { url, secret: Redacted.make(secret ?? "") },
    })),
    ...messenger(settings),
    ...given(settings.SERVICE_ALERT_ROUTER_URL, (url) => ({
      definition: { kind: "alert_router" },
      secrets: { url },
    })),
    ...(from === undefined || to === undefined
      ? []
      : given(settings.SERVICE_SMTP_URL, (url) => ({
          definition: { kind: "messenger", type: "email", from, to },
          secrets: { url },
        }))),
    ...(["ntfy", "discord", "teams"] as const).flatMap((type) =>
      given(chats[type], (url) => ({ definition: { kind: "messenger", type }, secrets: { url } })),
    ),
    ...given(settings.SERVICE_PAGERDUTY_KEY, (routing_key) => ({
      definition: { kind: "alert_router", type: "pagerduty" },
      secrets: { routing_key },
    })),
  ]
}

const messenger = (settings: Settings): ReadonlyArray<Configured> => {
  const { SERVICE_MESSENGER_URL, SERVICE_TELEGRAM_CHAT, SERVICE_TELEGRAM_TOKEN } = settings
  if (SERVICE_MESSENGER_URL === undefined && SERVICE_TELEGRAM_CHAT !== undefined)
    return given(SERVICE_TELEGRAM_TOKEN, (telegram_token) => ({
      definition: { kind: "messenger", telegram_chat: SERVICE_TELEGRAM_CHAT },
      secrets: { telegram_token },
    }))
  return given(SERVICE_MESSENGER_URL, (url) => ({ definition: { kind: "messenger" }, secrets: { url } }))
}

/**
 * The receiver of watchdog pings, if one is set. An invalid address was reported before; here it is a
 * defect.
 */
export const watchdogReceiver = ({
  SERVICE_WATCHDOG_URL,
  SERVICE_DENY_PRIVATE_TARGETS: denyPrivateTargets,
}: Settings): Layer.Layer<WatchdogReceiver> | undefined => {
  if (SERVICE_WATCHDOG_URL === undefined) return undefined
  const target = Result.getOrThrow(parseTarget(SERVICE_WATCHDOG_URL, { denyPrivateTargets }))
  return HttpWatchdogReceiver.layer({ target, denyPrivateTargets })
}

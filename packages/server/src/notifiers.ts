import { mailTimeout, namedHost, sendTimeout } from "@tocsin/adapter-notify/http/HttpPost"
import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import { makeReceiver } from "@tocsin/adapter-notify/policyReceivers"
import type { ReceiverSecrets } from "@tocsin/adapter-notify/receiverSecrets"
import * as HttpWatchdogReceiver from "@tocsin/adapter-notify/watchdog/HttpWatchdogReceiver"
import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { type Notifier, Notifiers, type WatchdogReceiver } from "@tocsin/core/heart/notifications/Notifiers"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { brokenInstall } from "./BrokenInstall.ts"
import { enabledNotifiers } from "./rules.ts"
import type { Settings } from "./settings/Settings.ts"
import { publicUrlIn } from "./features/settings/publicUrlIn.ts"

const mailServerOf = ({ SERVICE_EMAIL_FROM: from, SERVICE_SMTP_URL: url }: Settings) =>
  from === undefined || url === undefined ? undefined : { from, url }

export const postingOf = (settings: Settings) => ({
  denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS,
  timeout: sendTimeout(settings.SERVICE_DELIVERY_LEASE),
  mailTimeout: mailTimeout(settings.SERVICE_DELIVERY_LEASE),
  mailServer: mailServerOf(settings),
  publicHost: () => namedHost(publicUrlIn(settings)),
})

/**
 * The receivers of a policy that defines none, each named by its type, or else its kind. An invalid setting was
 * reported before: here it is a defect.
 */
const receiversOfSettings = Effect.fnUntraced(function* (settings: Settings) {
  const enabled: ReadonlySet<string> = new Set(enabledNotifiers(settings))
  const made = new Map<NotifierName, Notifier>()
  for (const [definition, secrets] of definable(settings)) {
    const name = ("type" in definition ? definition.type : undefined) ?? definition.kind
    if (!enabled.has(name)) continue
    const notifier = yield* makeReceiver(definition, secrets, postingOf(settings)).pipe(
      Effect.catchTag("BadNotifierSetting", Effect.die),
      Effect.mapError(brokenInstall(`the part of Tocsin for the receiver ${name}`)),
    )
    made.set(name, notifier)
  }
  return made
})

/** The notifiers of modules, which are receivers whatever a policy and SERVICE_NOTIFIERS say. */
const notifiersOfExtensions = Effect.fnUntraced(function* (settings: Settings) {
  const options = settings.extensions?.notifiers ?? []
  if (options.length === 0) return new Map<NotifierName, Notifier>()
  const { notifiersLayer } = yield* Effect.promise(() => import("tocsin/internal/notifiers/notifiers"))
  const layer = notifiersLayer(
    options.map(([, notifier]) => notifier),
    postingOf(settings),
  )
  // Their problems were reported with the settings.
  return Context.get(yield* Effect.orDie(Layer.build(layer)), Notifiers)
})

/** The notifiers of a policy's receivers, those of the settings if it defines none, and those of modules. */
export const withOutsiders = Effect.fnUntraced(function* (
  settings: Settings,
  made: ReadonlyMap<NotifierName, Notifier> | undefined,
) {
  return new Map([
    ...(yield* notifiersOfExtensions(settings)),
    ...(made ?? (yield* receiversOfSettings(settings))),
  ])
})

/** Every receiver that settings can define; only those with an address are ever enabled. */
const definable = (settings: Settings): ReadonlyArray<readonly [Receiver, ReceiverSecrets]> => {
  const { SERVICE_EMAIL_FROM: from = "", SERVICE_EMAIL_TO: to = [], SERVICE_TELEGRAM_CHAT: chat } = settings
  const secret = Redacted.make(settings.SERVICE_WEBHOOK_SECRET?.map(Redacted.value).join(" ") ?? "")
  const telegram = chat !== undefined && { telegram_chat: chat }
  return [
    [{ kind: "debug" }, {}],
    [{ kind: "webhook" }, { url: settings.SERVICE_WEBHOOK_URL, secret }],
    [
      { kind: "messenger", ...telegram },
      { url: settings.SERVICE_MESSENGER_URL, telegram_token: settings.SERVICE_TELEGRAM_TOKEN },
    ],
    [{ kind: "alert_router" }, { url: settings.SERVICE_ALERT_ROUTER_URL }],
    [{ kind: "messenger", type: "email", from, to }, { url: settings.SERVICE_SMTP_URL }],
    [{ kind: "messenger", type: "ntfy" }, { url: settings.SERVICE_NTFY_URL }],
    [{ kind: "messenger", type: "discord" }, { url: settings.SERVICE_DISCORD_URL }],
    [{ kind: "messenger", type: "teams" }, { url: settings.SERVICE_TEAMS_URL }],
    [{ kind: "alert_router", type: "pagerduty" }, { routing_key: settings.SERVICE_PAGERDUTY_KEY }],
  ]
}

/** The receiver of watchdog pings, if one is set. An invalid address was reported before; here it is a defect. */
export const watchdogReceiver = ({
  SERVICE_WATCHDOG_URL,
  SERVICE_DENY_PRIVATE_TARGETS: denyPrivateTargets,
}: Settings): Layer.Layer<WatchdogReceiver> | undefined => {
  if (SERVICE_WATCHDOG_URL === undefined) return undefined
  const target = Result.getOrThrow(parseTarget(SERVICE_WATCHDOG_URL, { denyPrivateTargets }))
  return HttpWatchdogReceiver.layer({ target, denyPrivateTargets })
}

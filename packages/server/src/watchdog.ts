import * as HttpWatchdogReceiver from "@tocsin/adapter-notify/watchdog/HttpWatchdogReceiver"
import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import { WatchdogReceiver } from "@tocsin/core/ports/Notifiers"
import { Effect, Layer, Result } from "effect"
import { Tocsin } from "tocsin/effect"
import type { Secrets } from "./Secrets.ts"
import type { Settings } from "./settings/Settings.ts"

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

/** Sends watchdog pings if an address is set; the address follows the settings. */
export const watchdogLayer = (secrets: Secrets, settings: Settings) => {
  const initial = watchdogReceiver(settings)
  if (initial === undefined) return Layer.empty
  const receiver = Layer.effect(
    WatchdogReceiver,
    Effect.map(
      secrets.service(WatchdogReceiver, (read) => watchdogReceiver(read) ?? initial),
      (latest) => WatchdogReceiver.of({ send: (watchdog) => latest().send(watchdog) }),
    ),
  )
  return Tocsin.watchdog({ interval: settings.SERVICE_WATCHDOG_INTERVAL, receiver })
}

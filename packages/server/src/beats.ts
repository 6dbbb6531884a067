import * as HttpBeatReceiver from "@tocsin/adapter-notify/beat/HttpBeatReceiver"
import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import { BeatReceiver } from "@tocsin/core/ports/Notifiers"
import { Effect, Layer, Result } from "effect"
import { Tocsin } from "tocsin/effect"
import type { Secrets } from "./Secrets.ts"
import type { Settings } from "./settings/Settings.ts"

/**
 * The receiver of beats, if one is set. An invalid address was reported before; here it is a
 * defect.
 */
export const beatReceiver = ({
  SERVICE_BEAT_URL,
  SERVICE_DENY_PRIVATE_TARGETS: denyPrivateTargets,
}: Settings): Layer.Layer<BeatReceiver> | undefined => {
  if (SERVICE_BEAT_URL === undefined) return undefined
  const target = Result.getOrThrow(parseTarget(SERVICE_BEAT_URL, { denyPrivateTargets }))
  return HttpBeatReceiver.layer({ target, denyPrivateTargets })
}

/** Sends beats if an address is set; the address follows the settings. */
export const beatsLayer = (secrets: Secrets, settings: Settings) => {
  const initial = beatReceiver(settings)
  if (initial === undefined) return Layer.empty
  const receiver = Layer.effect(
    BeatReceiver,
    Effect.map(
      secrets.service(BeatReceiver, (read) => beatReceiver(read) ?? initial),
      (latest) => BeatReceiver.of({ send: (beat) => latest().send(beat) }),
    ),
  )
  return Tocsin.beats({ interval: settings.SERVICE_BEAT_INTERVAL, receiver })
}

import * as HttpBeatReceiver from "@tocsin/adapter-notify/beat/HttpBeatReceiver"
import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import type { BeatReceiver } from "@tocsin/core/ports/BeatReceiver"
import { Layer, Result } from "effect"
import { Tocsin } from "tocsin/effect"
import type { Settings } from "./settings/Settings.ts"

/** Where the settings send beats; nothing where they send none. A bad address was told of before; here it is a defect. */
export const beatReceiver = ({
  SERVICE_BEAT_URL,
  SERVICE_DENY_PRIVATE_TARGETS: denyPrivateTargets,
}: Settings): Layer.Layer<BeatReceiver> | undefined => {
  if (SERVICE_BEAT_URL === undefined) return undefined
  const target = Result.getOrThrow(parseTarget(SERVICE_BEAT_URL, { denyPrivateTargets }))
  return HttpBeatReceiver.layer({ target, denyPrivateTargets })
}

/** The beats that the settings ask for. */
export const beatsLayer = (settings: Settings) => {
  const receiver = beatReceiver(settings)
  return receiver === undefined
    ? Layer.empty
    : Tocsin.beats({ interval: settings.SERVICE_BEAT_INTERVAL, receiver })
}

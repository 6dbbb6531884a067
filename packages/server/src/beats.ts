import * as HttpBeatReceiver from "@tocsin/adapter-notify/beat/HttpBeatReceiver"
import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import { BeatReceiver } from "@tocsin/core/ports/BeatReceiver"
import { Context, Effect, Layer, Result } from "effect"
import { Tocsin } from "tocsin/effect"
import type { Secrets } from "./Secrets.ts"
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

/** The beats that the settings ask for, sent to the address that these come to hold. */
export const beatsLayer = (secrets: Secrets, settings: Settings) => {
  const receiver = beatReceiver(settings)
  return receiver === undefined
    ? Layer.empty
    : Tocsin.beats({
        interval: settings.SERVICE_BEAT_INTERVAL,
        receiver: followingReceiver(secrets, receiver),
      })
}

const followingReceiver = (secrets: Secrets, initial: Layer.Layer<BeatReceiver>): Layer.Layer<BeatReceiver> =>
  Layer.effect(
    BeatReceiver,
    Effect.gen(function* () {
      const made = yield* secrets.follow((settings) =>
        Effect.map(Layer.build(Layer.fresh(beatReceiver(settings) ?? initial)), (context) =>
          Context.get(context, BeatReceiver),
        ),
      )
      return BeatReceiver.of({ send: (beat) => made().send(beat) })
    }),
  )

import { SharedSettings } from "./SharedSettings.ts"
import { Duration, Effect, Layer } from "effect"
import { keepRepeating } from "../../kernel/engine/commits/keepRepeating.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"

// A setting that was changed is in force everywhere within 5 s (docs/rules.md#stored-settings).
const FOLLOW_EVERY = Duration.seconds(3)

/** Puts the settings in force here that operators change elsewhere, until the layer closes. */
const settingsFollower: Layer.Layer<never, never, SharedSettings> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { followSettings } = yield* SharedSettings
    const pause = idlePause(FOLLOW_EVERY)
    const complaint = "cannot read the stored settings; wait until the storage recovers"
    yield* Effect.forkScoped(keepRepeating(Effect.andThen(followSettings, pause), complaint, pause))
  }),
)

/** The part of settings in the core. */
export const settings = { operations: SharedSettings, follows: settingsFollower }

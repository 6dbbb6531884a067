import { Duration, Effect, Layer } from "effect"
import { Storage } from "../ports/Storage.ts"

// A piece is short enough that ingestion beside it waits for milliseconds; between pieces ingestion goes first.
const PURGE_PIECE = 500
const BETWEEN_PIECES = Duration.millis(20)
const WHEN_IDLE = Duration.seconds(10)

/** Removes what deleted agents left behind, piece by piece, for as long as the layer lives (design: cost follows change). */
export const layer: Layer.Layer<never, never, Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    const storage = yield* Storage
    const step = storage.purge(PURGE_PIECE).pipe(
      Effect.map((removed) => (removed < PURGE_PIECE ? WHEN_IDLE : BETWEEN_PIECES)),
      Effect.catch((error) =>
        Effect.as(Effect.logWarning("removing the rows of deleted agents failed; it is tried again", error), WHEN_IDLE),
      ),
      Effect.flatMap(Effect.sleep),
    )
    yield* Effect.forkScoped(Effect.forever(step))
  }),
)

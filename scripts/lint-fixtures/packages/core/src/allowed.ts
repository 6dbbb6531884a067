// allowed
import { Effect } from "effect"
import type { Layer } from "effect"

export const allowed = (layer: Layer.Layer<never>) => Effect.provide(Effect.void, layer)

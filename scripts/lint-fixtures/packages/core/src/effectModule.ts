// refused: eslint(no-restricted-imports) The core imports the root of effect only
import * as Effect from "effect/Effect"

export const refused = Effect.void

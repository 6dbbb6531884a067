import type { Layer } from "effect"
import type { Tag } from "./documents/examples.ts"
import type { MadeUseCases } from "./handlers/OpsUseCases.ts"
import type { KnownRoute } from "./routes.ts"

/** The part of a feature in the API: a plain object, of which features.ts makes the lists of this package. */
export interface HttpPart {
  /** Its endpoints in the OpenAPI document: where another part describes the tag, with `undefined`. */
  readonly tags?: ReadonlyArray<Tag>
  /** Its endpoints of one group, for the library too: each by the use case of its name. */
  readonly useCases?: MadeUseCases
  /** Answers endpoints that are more than a use case. */
  readonly handlers?: Layer.Any
  /** Routes that are not in the definition of the API. */
  readonly beside?: { readonly routes: ReadonlyArray<KnownRoute>; readonly layer: Layer.Any }
}

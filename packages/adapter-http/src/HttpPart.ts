import type { Layer } from "effect"
import type { Tag } from "./documents/examples.ts"
import type { KnownRoute } from "./routes.ts"

/** What a feature serves by HTTP, beside the use cases of its endpoints. */
export interface HttpPart {
  /** Its endpoints in the OpenAPI document: where another part describes the tag, with `undefined`. */
  readonly tags?: ReadonlyArray<Tag>
  /** Answers endpoints that are more than a use case. */
  readonly handlers?: Layer.Any
  /** Routes that are not in the definition of the API. */
  readonly beside?: { readonly routes: ReadonlyArray<KnownRoute>; readonly layer: Layer.Any }
}

import { Schema } from "effect"
import { InstantFromString } from "./Instant.ts"

/** A field that holds an instant, described for the OpenAPI document. */
export const timestamp = (description: string): typeof InstantFromString =>
  // Flipped, because a document describes the encoded side.
  Schema.flip(Schema.flip(InstantFromString).annotate({ description }))

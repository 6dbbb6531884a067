import { Schema } from "effect"
import { named, optional } from "../formats/Fields.ts"

/** Why an incident resolved (docs/rules.md#details). */
export const ResolutionReason = Schema.Literals([
  "recovered",
  "reported",
  "deleted",
  "resolved",
  "withdrawn",
  "moved",
])

export const ShownResolution = Schema.NullOr(
  Schema.Struct({
    reason: ResolutionReason,
    by: optional(Schema.String, "Who deleted or resolved it."),
    text: Schema.String.annotateKey({ description: "The same for people, as messages say it." }),
  }).annotate(named("Resolution", "How an incident ended: `recovered` alone says that its check is ok.")),
).annotate({
  description: "How it ended; null while it is open, and where an earlier version resolved it.",
})

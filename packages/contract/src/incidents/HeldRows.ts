import { Schema } from "effect"
import { Acknowledgement } from "../acknowledgements/Acknowledgements.ts"
import { described, named, optional, timestamp } from "../formats/Fields.ts"
import { Incident, NotificationOutboxItem } from "../v1/Resources.ts"
import { ShownTitle } from "../titles/Titles.ts"
import { FiringCause, NotifierName } from "../formats/Status.ts"
import { ShownResolution } from "./Resolution.ts"

/** The holds of a firing (docs/rules.md#holds). */
const HeldBy = Schema.Array(Schema.String.annotate({ examples: ["ack", "after"] })).annotate({
  description:
    "The holds of its firings now: ack, after, quiet, parent:INCIDENT_KEY, silence:ID or window:NAME. Empty if nothing holds them.",
})

export const HeldIncident = Schema.Struct({
  ...Incident.fields,
  title: ShownTitle,
  resolution: ShownResolution,
  acknowledgement: Schema.NullOr(Acknowledgement),
  held_by: HeldBy,
  receivers: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        receiver: NotifierName,
        state: NotificationOutboxItem.fields.state,
        held_by: HeldBy,
      }),
    ).annotate({
      description:
        "With with_receivers: each receiver, with the state of the firing that reached it, or else of its newest one. That of a shadow is discarded. What holds the incident is left out.",
    }),
  ),
}).annotate(named("HeldIncident", "An incident with its acknowledgement and what withholds its firings."))

export const HeldOutboxItem = Schema.Struct({
  ...NotificationOutboxItem.fields,
  receiver: NotifierName.annotateKey({ description: "The receiver's name in the policy." }),
  cause: Schema.NullOr(FiringCause).annotateKey({
    description:
      "Why this firing was enqueued; null for a resolved, and for firings of versions without causes.",
  }),
  rotas: optional(Schema.Array(NotifierName), "The rotas that named its receiver, if some did."),
  held_by: HeldBy,
  held_until: Schema.NullOr(timestamp("The last known end of these holds; null if nothing holds it.")),
  why: optional(Schema.String, "Why it waits, where no running server can use its receiver."),
  incident_key: Incident.fields.incident_key,
  title: ShownTitle,
  summary: described(Schema.NullOr(Schema.String), "The summary that its incident has now."),
}).annotate(named("HeldOutboxItem", "A notification with its receiver, its cause and what withholds it."))

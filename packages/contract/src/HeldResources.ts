import { Schema } from "effect"
import { Acknowledgement } from "./Acknowledgements.ts"
import { timestamp } from "./Fields.ts"
import { Incident, NotificationOutboxItem } from "./Resources.ts"
import { FiringCause, NotifierName } from "./Status.ts"

/** What withholds a firing (docs/rules.md#holds). */
const HeldBy = Schema.Array(Schema.String.annotate({ examples: ["ack", "after"] })).annotate({
  description:
    "What withholds its firings now: ack, after, silence:ID or window:NAME. Empty if nothing does.",
})

/** An incident with its acknowledgement, and what withholds its firings. */
export const HeldIncident = Schema.Struct({
  ...Incident.fields,
  acknowledgement: Schema.NullOr(Acknowledgement),
  held_by: HeldBy,
}).annotate({
  identifier: "HeldIncident",
  description: "An incident with its acknowledgement and what withholds its firings.",
})

/** A notification with its receiver, its cause, and what withholds it. */
export const HeldOutboxItem = Schema.Struct({
  ...NotificationOutboxItem.fields,
  receiver: NotifierName.annotateKey({ description: "The receiver's name in the policy." }),
  cause: Schema.NullOr(FiringCause).annotateKey({
    description:
      "Why this firing was enqueued; null for a resolved, and for firings of versions without causes.",
  }),
  held_by: HeldBy,
  held_until: Schema.NullOr(timestamp("The last known end of these holds; null if nothing holds it.")),
}).annotate({
  identifier: "HeldOutboxItem",
  description: "A notification with its receiver, its cause and what withholds it.",
})

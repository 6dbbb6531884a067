import { Schema } from "effect"
import { IncidentId, OutboxId } from "./Identifiers.ts"
import { NonNegativeInteger } from "./NonNegativeInteger.ts"
import { NotificationType, NotifierName, OutboxState } from "./Status.ts"
import { timestamp } from "./timestamp.ts"

/** One notification on its way to one notifier (docs/rules.md#delivery). */
export const NotificationOutboxItem = Schema.Struct({
  id: OutboxId.annotateKey({ description: "Constant over all attempts, so that receivers can deduplicate." }),
  notifier: NotifierName,
  state: OutboxState,
  incident_id: IncidentId,
  event_type: NotificationType,
  attempts: NonNegativeInteger.annotate({ description: "How often delivery was tried." }),
  next_attempt_at: Schema.optionalKey(
    Schema.NullOr(timestamp("When delivery is tried next; null or absent when it is not.")),
  ),
  last_error: Schema.optionalKey(Schema.NullOr(Schema.String)).annotateKey({
    description: "Why the last attempt failed; null or absent when none did.",
  }),
  updated_at: Schema.optionalKey(timestamp("When the item last changed.")),
}).annotate({
  identifier: "NotificationOutboxItem",
  description: "One notification on its way to one notifier.",
})
export type NotificationOutboxItem = typeof NotificationOutboxItem.Type

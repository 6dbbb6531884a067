import { Schema } from "effect"
import { described, named, NonNegativeInteger, optional } from "../formats/Fields.ts"
import {
  Agent,
  AgentBlacklistItem,
  CheckState,
  Incident,
  NotificationOutboxItem,
  StoredCheckResultEvent,
} from "./Resources.ts"

export const HealthResponse = Schema.Struct({ status: Schema.Literal("ok") }).annotate(
  named("HealthResponse", "The service is well."),
)

/** The reply to a heartbeat (docs/rules.md#agent-keys). */
export const AcceptedResponse = Schema.Struct({
  accepted: described(Schema.Boolean, "Whether an operator has accepted the key that was used."),
}).annotate(named("AcceptedResponse", "The heartbeat was taken."))
export type AcceptedResponse = typeof AcceptedResponse.Type

/** The reply to a batch; the two counts add up to its events (docs/rules.md#events). */
export const EventBatchAcceptedResponse = Schema.Struct({
  accepted: NonNegativeInteger.annotate({ description: "Events that produced a new status-change row." }),
  deduplicated: NonNegativeInteger.annotate({ description: "Events not stored as a change." }),
}).annotate(named("EventBatchAcceptedResponse", "The batch was applied."))
export type EventBatchAcceptedResponse = typeof EventBatchAcceptedResponse.Type

export const ActionCountResponse = Schema.Struct({
  count: NonNegativeInteger.annotate({ description: "How many rows the action concerned." }),
}).annotate(named("ActionCountResponse", "The action was carried out."))
export type ActionCountResponse = typeof ActionCountResponse.Type

export const pageOf = <Item extends Schema.Top>(item: Item, identifier: string) =>
  Schema.Struct({
    items: Schema.Array(item),
    next_cursor: optional(
      Schema.NullOr(Schema.String),
      "Pass as cursor for the next page; null or absent when there are no more results.",
    ),
    prev_cursor: optional(
      Schema.NullOr(Schema.String),
      "Pass as cursor with back=true for the previous page; null on the first page.",
    ),
  }).annotate({ identifier, description: "One page of a list." })

export const AgentPage = pageOf(Agent, "AgentPage")
export const AgentBlacklistPage = pageOf(AgentBlacklistItem, "AgentBlacklistPage")
export const CheckStatePage = pageOf(CheckState, "CheckStatePage")
export const IncidentPage = pageOf(Incident, "IncidentPage")
export const StoredCheckResultEventPage = pageOf(StoredCheckResultEvent, "StoredCheckResultEventPage")
export const NotificationOutboxPage = pageOf(NotificationOutboxItem, "NotificationOutboxPage")

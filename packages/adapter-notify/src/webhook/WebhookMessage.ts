import { NotificationType, Severity } from "@tocsin/core/contract/Status"
import { timestamp } from "@tocsin/core/contract/Fields"
import { Schema } from "effect"

/** Grows with a change that a receiver could trip over; a new field is none. */
const version = Schema.Literal(1)

const text = Schema.String.annotate({ description: "The same for people: several lines of plain text." })

const WebhookIncident = Schema.Struct({
  id: Schema.String,
  incident_key: Schema.String,
  agent_id: Schema.optionalKey(Schema.String).annotateKey({
    description: "The agent of the only member; absent with several.",
  }),
  check_id: Schema.optionalKey(Schema.String).annotateKey({
    description: "The check of the only member; absent with several, and where an agent is not heard of.",
  }),
  opened_by: Schema.Struct({
    agent_id: Schema.String,
    check_id: Schema.optionalKey(Schema.String),
  }).annotate({ description: "What opened it; the same for the incident's life." }),
  opened_at: timestamp("When its first member turned not ok."),
  resolved_at: Schema.optionalKey(timestamp("When no member was left; absent while it is open.")),
  members: Schema.Int.annotate({ description: "How many checks are in it now." }),
})

/** What a webhook says of an incident. Its ids and keys are those of the v1 API. */
export const IncidentMessage = Schema.Struct({
  type: Schema.TemplateLiteral(["incident.", NotificationType]),
  version,
  timestamp: timestamp("When the notification was made; the same for every attempt."),
  data: Schema.Struct({
    id: Schema.String.annotate({ description: "Of the outbox item, as webhook-id: deduplicate on it." }),
    severity: Severity,
    summary: Schema.optionalKey(
      Schema.String.annotate({
        description: "First line of the worst check's output, at most 512 characters.",
      }),
    ),
    text,
    incident: WebhookIncident,
  }),
})
export type IncidentMessage = typeof IncidentMessage.Type

/** What a webhook says when an operator tries it. */
const TestMessage = Schema.Struct({
  type: Schema.Literal("test"),
  version,
  timestamp: timestamp("When the test was made."),
  data: Schema.Struct({ id: Schema.String, text }),
})

/** The body of a webhook, version 1 (docs/rules.md#notifiers): type, timestamp and data as Standard Webhooks recommends. */
export const WebhookMessage = Schema.Union([IncidentMessage, TestMessage])
export type WebhookMessage = typeof WebhookMessage.Type

import { Acknowledgement } from "@tocsin/contract/Acknowledgements"
import type { AgentId, CheckId } from "@tocsin/contract/Identifiers"
import { FiringCause, NotificationType, Severity } from "@tocsin/contract/Status"
import { timestamp } from "@tocsin/contract/Fields"
import type { DeliveryAttempt } from "@tocsin/core/ports/DeliveryAttempt"
import { Schema } from "effect"
import { checkIdOf, incidentText, type NotifiedIncident } from "../text/incidentText.ts"

/** Grows with an incompatible change; a new field is compatible. */
const version = Schema.Literal(1)

const text = Schema.String.annotate({ description: "The message for people: several lines of plain text." })

const WebhookIncident = Schema.Struct({
  id: Schema.String,
  incident_key: Schema.String,
  agent_id: Schema.optionalKey(Schema.String).annotateKey({
    description: "The agent of the only member; absent with several.",
  }),
  check_id: Schema.optionalKey(Schema.String).annotateKey({
    description: "The check of the only member; absent with several, and for a heartbeat incident.",
  }),
  opened_by: Schema.Struct({
    agent_id: Schema.String,
    check_id: Schema.optionalKey(Schema.String),
  }).annotate({ description: "The opener of the incident; it never changes." }),
  opened_at: timestamp("When its first member turned not ok."),
  resolved_at: Schema.optionalKey(timestamp("When no member was left; absent while it is open.")),
  members: Schema.Int.annotate({ description: "How many checks are in the incident now." }),
})

/** The message about an incident. IDs and keys are those of the v1 API. */
export const IncidentMessage = Schema.Struct({
  type: Schema.TemplateLiteral(["incident.", NotificationType]),
  version,
  timestamp: timestamp("When the notification was made; the same for every attempt."),
  data: Schema.Struct({
    id: Schema.String.annotate({
      description: "ID of the outbox item, also in webhook-id: deduplicate by it.",
    }),
    severity: Severity,
    summary: Schema.optionalKey(
      Schema.String.annotate({
        description: "First line of the worst check's output, at most 512 characters.",
      }),
    ),
    text,
    receiver: Schema.String.annotate({ description: "The receiver's name; its kind without a policy." }),
    cause: Schema.optionalKey(FiringCause),
    firing_for_seconds: Schema.Int.annotate({
      description: "How long the incident had been open when this became due; until it resolved, if it has.",
    }),
    acknowledgement: Schema.optionalKey(
      Acknowledgement.annotate({
        description:
          "Who takes care of the incident, and until when; absent if nobody does, and once it resolved.",
      }),
    ),
    incident: WebhookIncident,
    links: Schema.optionalKey(
      Schema.Struct({
        incident: Schema.String.annotate({ description: "The incident's timeline, for operators." }),
      }),
    ),
  }),
})
export type IncidentMessage = typeof IncidentMessage.Type

/** The message of an operator's test. */
const TestMessage = Schema.Struct({
  type: Schema.Literal("test"),
  version,
  timestamp: timestamp("When the test was made."),
  data: Schema.Struct({ id: Schema.String, text }),
})

/** The body of a webhook, version 1, as Standard Webhooks recommends (docs/rules.md#notifiers). */
export const WebhookMessage = Schema.Union([IncidentMessage, TestMessage])
export type WebhookMessage = typeof WebhookMessage.Type

const UNLIMITED = { limit: Number.MAX_SAFE_INTEGER, escape: (line: string) => line }

/**
 * The body of a notification. Attempts differ only if the incident has changed. `publicUrl` is the
 * base of its links.
 */
export const incidentMessage = (
  notification: DeliveryAttempt,
  publicUrl: string | undefined,
): IncidentMessage => ({
  type: `incident.${notification.event_type}`,
  version: 1,
  timestamp: notification.created_at,
  data: {
    id: notification.id,
    severity: notification.severity,
    ...(notification.summary !== undefined && { summary: notification.summary }),
    text: incidentText(notification, UNLIMITED),
    receiver: notification.receiver,
    ...(notification.cause !== undefined && { cause: notification.cause }),
    firing_for_seconds: secondsOf(notification),
    ...acknowledgedBy(notification),
    incident: incidentOf(notification.incident),
    ...(publicUrl !== undefined && {
      links: { incident: `${publicUrl}/ops/v1/incidents/${notification.incident.id}` },
    }),
  },
})

const MICROS_PER_SECOND = 1_000_000n

/** To the second as in `text`. Never negative: a clock may have been set back since the incident opened. */
const secondsOf = ({ age_starts_at, event_type, incident }: DeliveryAttempt): number => {
  const until = event_type === "resolved" ? (incident.resolved_at ?? age_starts_at) : age_starts_at
  return Math.max(0, Number(until / MICROS_PER_SECOND - incident.opened_at / MICROS_PER_SECOND))
}

const acknowledgedBy = ({ acknowledgement }: DeliveryAttempt) => {
  if (acknowledgement === undefined) return {}
  const { note, ...rest } = acknowledgement
  return { acknowledgement: { ...rest, ...(note !== undefined && { note }) } }
}

const incidentOf = (incident: NotifiedIncident): IncidentMessage["data"]["incident"] => ({
  id: incident.id,
  incident_key: incident.incident_key,
  ...placeOf(incident.agent_id, incident.check_id),
  opened_by: { agent_id: incident.opener_agent_id, ...placeOf(undefined, incident.opener_check_id) },
  opened_at: incident.opened_at,
  ...(incident.resolved_at !== undefined && { resolved_at: incident.resolved_at }),
  members: incident.members,
})

const placeOf = (agent_id: AgentId | undefined, checkId: CheckId | undefined) => {
  const check_id = checkIdOf(checkId)
  return { ...(agent_id !== undefined && { agent_id }), ...(check_id !== undefined && { check_id }) }
}

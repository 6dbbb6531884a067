import { IncidentMessage, incidentMessage } from "@tocsin/adapter-notify/webhook/WebhookMessage"
import type { DeliveryAttempt } from "@tocsin/core/notifications/DeliveryAttempt"
import { Schema } from "effect"
import type { NotificationType, Severity } from "@tocsin/client/Resources"

/** What a notifier tells its receiver: one item of the outbox, as plain data. */
export interface Notification {
  /** The same for every attempt: receivers can recognise a repetition by it. */
  readonly id: string
  /** The name of the notifier that it is for. */
  readonly notifier: string
  readonly event_type: NotificationType
  /** The severity that is told. */
  readonly severity: Severity
  /** What the incident said of itself when this was enqueued: one line, at most 512 characters. */
  readonly summary?: string
  /** The whole of it for people: several lines of plain text. */
  readonly text: string
  readonly created_at: string
  /** Which attempt this is, from 1. */
  readonly attempt: number
  readonly incident: {
    readonly id: string
    readonly incident_key: string
    /** The only member's; absent with several. */
    readonly agent_id?: string
    readonly check_id?: string
    /** What opened it; the same for the incident's life. */
    readonly opened_by: { readonly agent_id: string; readonly check_id?: string }
    readonly opened_at: string
    /** Absent while it is open. */
    readonly resolved_at?: string
    /** How many checks are in it now. */
    readonly members: number
  }
}

const encode = Schema.encodeSync(IncidentMessage)

/**
 * A notification as plain data: the fields of the webhook's message, and what is known of the
 * attempt.
 */
export const toNotification = (notification: DeliveryAttempt): Notification => {
  const { timestamp, data } = encode(incidentMessage(notification))
  const { id, severity, summary, text, incident } = data
  return {
    id,
    notifier: notification.notifier,
    event_type: notification.event_type,
    severity,
    ...(summary !== undefined && { summary }),
    text,
    created_at: timestamp,
    attempt: notification.attempt,
    incident,
  }
}

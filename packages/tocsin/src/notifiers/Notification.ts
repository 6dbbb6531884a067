import { IncidentMessage, incidentMessage } from "@tocsin/adapter-notify/webhook/webhook"
import type { NotificationType } from "@tocsin/client/Resources"
import type { DeliveryAttempt } from "@tocsin/core/ports/DeliveryAttempt"
import { Schema } from "effect"

type Message = (typeof IncidentMessage)["Encoded"]["data"]

/**
 * One notification as plain data, with the fields of the webhook's message. `id` is the same for
 * every attempt, so that receivers can recognize a repetition. `text` is the message for people, in
 * several lines; `summary` is one line. `incident` has `agent_id` and `check_id` only with one
 * member, and `resolved_at` once it resolved.
 */
export interface Notification extends Message {
  /** The name of its notifier. */
  readonly notifier: string
  readonly event_type: NotificationType
  readonly created_at: string
  /** The number of this attempt, from 1. */
  readonly attempt: number
}

const encode = Schema.encodeSync(IncidentMessage)

/** A delivery attempt as a {@link Notification}. */
export const toNotification = (delivery: DeliveryAttempt): Notification => {
  const { timestamp, data } = encode(incidentMessage(delivery))
  const { notifier, event_type, attempt } = delivery
  return { ...data, notifier, event_type, created_at: timestamp, attempt }
}

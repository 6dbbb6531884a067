import type { FiringCause, NotifierName } from "@tocsin/contract/Status"
import type { HeldBy } from "../firings/readHolds.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import {
  isBehind,
  isHeld,
  isShadow,
  type OutboxRecord,
  wasAttempted,
  wasSent,
} from "../model/OutboxRecord.ts"

const BECAUSE: Readonly<Record<FiringCause, string>> = {
  opened: "the first firing of the incident for this receiver",
  worsened: "the incident worsened",
  reminder: "a reminder was due",
  escalation: "a later step of the route was due",
  ack_ran_out: "the acknowledgement ran out",
}

interface Story {
  readonly incident: IncidentRecord
  readonly outbox: ReadonlyArray<OutboxRecord>
  readonly held: HeldBy | undefined
  /** The receivers that servers send to now. */
  readonly served: ReadonlySet<NotifierName>
}

/** Why a notification was sent, waits, or is not sent, in a few words. */
export const explainNotification = (item: OutboxRecord, timeline: Story): string => {
  switch (item.state) {
    case "sending":
    case "sent":
      return reasonOf(item)
    case "pending":
      return whyPending(item, timeline)
    case "retry":
      return timeline.served.has(item.receiver) ? "waits for its next attempt" : NOT_SERVED
    case "failed":
      return "refused, or attempted for too long; replay it"
    case "discarded":
      if (isShadow(item)) return SHADOW
      return item.event_type === "firing" ? whyDiscarded(item, timeline) : whyNotResolved(item, timeline)
  }
}

const SHADOW = "its receiver is a shadow, to which nothing is sent"
const NOT_SERVED = "no running server can use this receiver"

const whyPending = (item: OutboxRecord, { held, outbox, served }: Story): string => {
  if (held !== undefined) return `held by ${held.held_by.join(", ")}`
  if (!served.has(item.receiver)) return NOT_SERVED
  if (isHeld(item)) return "its hold has ended, which Tocsin notices within 5 minutes"
  if (outbox.some((other) => isBehind(item, other))) return "waits for the notification before it"
  return item.released_at === undefined ? `due: ${reasonOf(item)}` : "due: released by an operator"
}

const reasonOf = ({ cause, event_type }: OutboxRecord): string =>
  event_type === "resolved"
    ? "the incident resolved"
    : cause === undefined
      ? "the incident fired"
      : BECAUSE[cause]

const DELETED = "its check or agent was deleted"
const NO_RECEIVER = "no replica had its receiver for 24 hours"

/** A discarded row changes no more, so its last change tells what happened then. */
const whyDiscarded = (item: OutboxRecord, { incident, outbox }: Story): string => {
  const { resolved_at, resolved_by } = incident
  const isReplaced = outbox.some(
    (other) =>
      other.id !== item.id &&
      other.receiver === item.receiver &&
      other.event_type === "firing" &&
      (other.state !== "discarded" || other.updated_at > item.updated_at),
  )
  if (isReplaced && item.updated_at !== resolved_at) return "superseded by a newer notification"
  if (resolved_at === undefined || item.updated_at < resolved_at) return NO_RECEIVER
  // An attempt may have been under way then.
  if (wasAttempted(item) && resolved_by === "agent_gone") return DELETED
  if (item.updated_at !== resolved_at) return NO_RECEIVER
  return wasAttempted(item) ? DELETED : "the incident resolved before it was sent"
}

const whyNotResolved = (item: OutboxRecord, { outbox }: Story): string =>
  outbox.some((other) => other.receiver === item.receiver && wasSent(other))
    ? NO_RECEIVER
    : "its receiver got no firing"

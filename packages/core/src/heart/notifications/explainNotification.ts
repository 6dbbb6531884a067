import type { FiringCause, NotifierName } from "@tocsin/contract/formats/Status"
import type { HeldBy } from "../firings/readHolds.ts"
import { type DiscardReason, isBehind, isHeld, type OutboxRecord } from "../model/OutboxRecord.ts"

const BECAUSE: Readonly<Record<FiringCause, string>> = {
  opened: "the first firing of the incident for this receiver",
  worsened: "the incident worsened",
  reminder: "a reminder was due",
  escalation: "a later step of the route was due, or those before it are out of reach",
  ack_ran_out: "the acknowledgement ran out",
  handover: "its receiver came on call",
}

interface DeliveryFacts {
  readonly outbox: ReadonlyArray<OutboxRecord>
  readonly held: HeldBy | undefined
  /** The receivers that servers send to now. */
  readonly served: ReadonlySet<NotifierName>
}

/** Why a notification waits that nothing holds, where no server can send it. */
export const whyNotServed = (
  { receiver, state }: OutboxRecord,
  { held, served }: Omit<DeliveryFacts, "outbox">,
): string | undefined =>
  (state === "pending" || state === "retry") && held === undefined && !served.has(receiver)
    ? "no running server can use this receiver"
    : undefined

/** Why a notification was sent, waits, or is not sent, in a few words. */
export const explainNotification = (item: OutboxRecord, timeline: DeliveryFacts): string => {
  const unserved = whyNotServed(item, timeline)
  if (unserved !== undefined) return unserved
  switch (item.state) {
    case "sending":
    case "sent":
      return reasonOf(item)
    case "pending":
      return whyPending(item, timeline)
    case "retry":
      return "waits for its next attempt"
    case "failed":
      return "refused, or attempted for too long; replay it"
    case "discarded":
      return item.discarded_because === undefined
        ? "an earlier version of Tocsin discarded it"
        : DISCARDED[item.discarded_because]
  }
}

const DISCARDED: Readonly<Record<DiscardReason, string>> = {
  incident_resolved: "the incident resolved before it was sent",
  firing_refused: "its receiver got no firing",
  coalesced: "superseded by a newer notification",
  unnamed: "no route names its receiver any more",
  agent_gone: "its check or agent was deleted",
  notifier_gone: "no replica had its receiver for 24 hours",
  shadowed: "its receiver is a shadow, to which nothing is sent",
}

const whyPending = (item: OutboxRecord, { held, outbox }: DeliveryFacts): string => {
  if (held !== undefined) return `held by ${held.held_by.join(", ")}`
  if (isHeld(item)) return "its hold has ended, which Tocsin notices within 5 minutes"
  if (outbox.some((other) => isBehind(item, other))) return "waits for the notification before it"
  return item.released_at === undefined ? `due: ${reasonOf(item)}` : "due: released by an operator"
}

/** Why a notification is owed, in a few words. */
export const reasonOf = ({ cause, event_type }: Pick<OutboxRecord, "cause" | "event_type">): string =>
  event_type === "resolved"
    ? "the incident resolved"
    : cause === undefined
      ? "the incident fired"
      : BECAUSE[cause]

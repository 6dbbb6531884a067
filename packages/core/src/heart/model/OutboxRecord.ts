import { planOutbox } from "./outboxList.ts"
import { Struct } from "effect"
import type { NotificationOutboxItem } from "@tocsin/contract/v1/Resources"
import type { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type {
  FiringCause,
  NotificationType,
  NotifierName,
  OutboxState,
  Severity,
} from "@tocsin/contract/formats/Status"
import type { Reason } from "./Reason.ts"
import type { HoldName, StoredHold } from "./StoredHold.ts"
import { topic } from "../../kernel/topics/Topics.ts"
import { move, stateTable } from "@tocsin/contract/formats/TransitionTable"
import {
  array,
  boolean,
  instant,
  integer,
  keyedTable,
  object,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"

const OUTBOX = topic("outbox")

/** A recipient of a mail that needs no further attempt: it has the mail, or was refused for good. */
export interface SettledRecipient {
  readonly address: string
  /** The codes of the mail server that refused it; absent for one that has the mail. */
  readonly refused?: string
}

/** One notification to one receiver, as stored. */
export const outbox = keyedTable({
  name: "outbox",
  key: ["id"],
  locks: "rows",
  groupsOf: (row) => [row.incident_id],
  topicsOf: () => OUTBOX,
  list: {
    name: "outbox",
    orders: { created_at: ["created_at", "id"], updated_at: ["updated_at", "id"] },
    plan: planOutbox,
  },
  columns: {
    id: text<OutboxId>(),
    /** Order, deduplication and retries are per receiver. */
    receiver: text<NotifierName>(),
    /** The receiver's kind; a notifier of the host program has its own name. */
    notifier: text<NotifierName>(),
    state: text<OutboxState>(),
    incident_id: text<IncidentId>(),
    event_type: text<NotificationType>(),
    /** Absent for a resolved, and for firings of versions without causes. */
    cause: orUndefined(text<FiringCause>()),
    /** Absent where nothing is to be said, and for firings of versions that say nothing. */
    why: orUndefined(object<Reason>()),
    /** By what its receiver was found to work, so that it takes the place of a refused one. */
    repaired_by: orUndefined(text<"attempt" | "change">()),
    /** The other rows of the last call that it was the first of, where its key acknowledges all (docs/rules.md#phones). */
    called_with: orUndefined(array<OutboxId>()),
    /** The change that it reports. Items of one incident and receiver are sent in this order. */
    incident_seq: integer,
    severity: text<Severity>(),
    /** The incident's summary when this was enqueued. */
    summary: orUndefined(text()),
    attempts: integer,
    /** When its first attempt began; a replay keeps it. */
    first_attempted_at: orUndefined(instant),
    next_attempt_at: orUndefined(instant),
    /**
     * When the incident of a held firing is evaluated for it: it has no next attempt meanwhile. Also of one in retry whose
     * acknowledgement has ended.
     */
    next_evaluation_at: orUndefined(instant),
    /** The holds of a firing by its last decision, and past ones that later decisions depend on. */
    holds: orUndefined(array<StoredHold>()),
    /** A reminder, or another firing that is sent whatever its receiver knows (docs/rules.md#firings). */
    must_send: boolean,
    /** A policy or a label made its receiver owed it, after its time: claims take all others first. */
    is_backfill: boolean,
    /** The rotas that named its receiver; absent where none did. */
    rotas: orUndefined(array<NotifierName>()),
    /** The recipients that no retry repeats (docs/rules.md#mails); absent until one of several has the mail. */
    recipients: orUndefined(array<SettledRecipient>()),
    /** When it was released by hand: nothing holds it any more. */
    released_at: orUndefined(instant),
    last_error: orUndefined(text()),
    /** Why it was discarded, or is once its attempt fails: the trigger of that move. */
    discarded_because: orUndefined(text<DiscardReason>()),
    /** The end of the claim of an item that is `sending`, by the storage's clock; absent in other states. */
    leased_until: orUndefined(instant),
    created_at: instant,
    /** From when its age counts: its creation or latest replay (docs/rules.md#delivery). */
    age_starts_at: instant,
    updated_at: instant,
  },
})
export type OutboxRecord = RecordOf<typeof outbox>

/** The states of a notification that may still be sent. */
export const UNENDED = ["pending", "sending", "retry"] as const satisfies ReadonlyArray<OutboxState>

export const isUnended = ({ state }: { state: OutboxState }): boolean => UNENDED.some((one) => one === state)

/** Whether an item ended at a shadow receiver, which counts as sent for every rule. */
export const isShadow = ({ discarded_because }: Pick<OutboxRecord, "discarded_because">): boolean =>
  discarded_because === "shadowed"

/** Whether an item was discarded instead of being sent. */
export const isDropped = (item: OutboxRecord): boolean => item.state === "discarded" && !isShadow(item)

/** Whether an item was discarded before it was attempted: nothing depends on it any more. */
export const isUntried = (item: OutboxRecord): boolean => isDropped(item) && !wasAttempted(item)

/** Whether a receiver got an item, or would have if it were no shadow. */
export const wasSent = (item: Pick<OutboxRecord, "discarded_because" | "state">): boolean =>
  item.state === "sent" || isShadow(item)

export const isFiring = (item: OutboxRecord): boolean => item.event_type === "firing" && !isDropped(item)

/** Whether a firing was found to be held when its incident was last evaluated. */
export const isHeld = ({ next_evaluation_at, state }: OutboxRecord): boolean =>
  state === "pending" && next_evaluation_at !== undefined

export const holdsInForce = ({ holds = [] }: Pick<OutboxRecord, "holds">): ReadonlyArray<StoredHold> =>
  holds.filter(({ hasEnded, until }) => hasEnded !== true || until !== undefined)

export const namesInForce = (item: Pick<OutboxRecord, "holds">): ReadonlyArray<HoldName> =>
  holdsInForce(item).map(({ by }) => by)

/** Whether an acknowledgement holds a firing that was attempted before: one in retry that was not released by hand. */
export const isRetried = ({ event_type, released_at, state }: OutboxRecord): boolean =>
  event_type === "firing" && state === "retry" && released_at === undefined

/** The acknowledgement among the holds of a row: of one in retry also after its end, until another takes its place. */
export const ackOf = ({ holds }: Pick<OutboxRecord, "holds">): StoredHold | undefined =>
  holds?.find(({ by }) => by === "ack")

/** Whether the acknowledgement has ended that held a firing in retry: an evaluation puts another one in its place. */
export const isReplaced = (item: OutboxRecord): boolean => isRetried(item) && ackOf(item)?.hasEnded === true

/** Whether a firing was attempted, and discarded as the acknowledgement ended that held it: its receiver may have it. */
export const wasReplaced = (item: OutboxRecord): boolean =>
  item.event_type === "firing" && item.state === "discarded" && ackOf(item) !== undefined

/** Whether an item is a firing that waits, or that its receiver may have got. */
export const isFiringOrReplaced = (item: OutboxRecord): boolean => isFiring(item) || wasReplaced(item)

export const discarded = (
  item: OutboxRecord,
  because: Exclude<DiscardReason, "shadowed">,
  now: Instant,
): OutboxRecord => {
  if (item.state !== "pending" && item.state !== "retry")
    throw new Error(`outbox item ${item.id} is ${item.state}`)
  return {
    ...item,
    state: move(OutboxTransitions, item.state, because),
    discarded_because: because,
    next_attempt_at: undefined,
    // How long it was in retry still decides on who is on call.
    holds: isReplaced(item) ? item.holds : undefined,
    next_evaluation_at: undefined,
    updated_at: now,
  }
}

/** Items of one incident and receiver are sent in this order: by its changes, those of one as they were written. */
export const inOrder = (one: OutboxRecord, other: OutboxRecord): number =>
  one.incident_seq - other.incident_seq || (one.id < other.id ? -1 : 1)

/** Whether an item of the same incident waits behind another, which its receiver gets first. */
export const isBehind = (item: OutboxRecord, other: OutboxRecord): boolean =>
  other.receiver === item.receiver && isUnended(other) && other.id !== item.id && inOrder(other, item) < 0

/**
 * An alert that its receiver has got and needs again: every minute while the incident has this
 * severity, then as ended for five minutes (docs/rules.md#alertmanager).
 */
export const alert = keyedTable({
  name: "alert",
  key: ["incident_id", "receiver", "severity"],
  locks: "rows",
  groupsOf: (row) => [row.incident_id],
  columns: {
    receiver: text<NotifierName>(),
    incident_id: text<IncidentId>(),
    severity: text<Severity>(),
    next_at: instant,
    /** When the incident resolved or changed its severity; absent while the alert fires. */
    ended_at: orUndefined(instant),
    /** The end of a replica's claim, by the storage's clock. */
    leased_until: orUndefined(instant),
  },
})
export type AlertRecord = RecordOf<typeof alert>

/** Names one alert at a receiver of the kind `alert_router`: severity is one of its labels. */
export type AlertRef = Pick<AlertRecord, "receiver" | "incident_id" | "severity">

/** Whether an attempt was ever made, also before a replay. */
export const wasAttempted = (item: Pick<OutboxRecord, "first_attempted_at">): boolean =>
  item.first_attempted_at !== undefined

const CLAIMED =
  "due, and every earlier item of the same incident and receiver has ended | attempts + 1; leased for 60 s by the storage's clock"
const AGENT_GONE =
  "a firing whose incident resolved because its last member's check or agent was deleted, or its agent blocked"
const NOTIFIER_GONE =
  "no live replica has listed its receiver for 24 hours; where the receiver is a notifier by its own name, also untouched for 24 hours, counted from the end of an expired lease"

/** Transitions of an outbox item (docs/rules.md#delivery). */
export const OutboxTransitions = stateTable({
  absent: {
    "enqueued -> pending":
      "a move of its incident enqueues it, as the table of incidents states | written in the transaction of that change, due immediately",
  },
  pending: {
    "claimed -> sending": CLAIMED,
    "incident_resolved -> discarded":
      "a firing whose incident resolved before the first attempt; a replayed one had its first attempt, and is discarded only where its receiver has resolved: false",
    "firing_refused -> discarded":
      "a resolved whose firings were all refused or discarded, so that the receiver has none",
    "held -> pending":
      "a firing that was never attempted and not released by hand, while a hold applies, as found when it is enqueued or claimed, or its incident is evaluated | no next attempt; evaluated again at the end of the hold, and by passes (docs/rules.md#evaluation)",
    "hold_ended -> pending":
      "the held firing of its open incident and receiver, when an evaluation finds no hold any more | due immediately with the incident's present severity and summary; age starts again; the cause by what its receiver knows",
    "released -> pending":
      "an operator releases it: a held firing of an open incident | due immediately with the incident's present severity and summary; age starts again; cause as when a hold ends; nothing holds it any more",
    "gathered -> pending":
      "a claim finds it after the fifth of a minute | due at its end (docs/rules.md#floods)",
    "followed -> pending": "as for retry, while it waits for the end of a minute | due immediately",
    "coalesced -> discarded": "a held firing, when another one of its incident and receiver states the same",
    "unnamed -> discarded":
      "a held reminder, or another one that is sent whatever its receiver knows, when no route names the receiver any more",
    "agent_gone -> discarded": AGENT_GONE,
    "notifier_gone -> discarded": NOTIFIER_GONE,
  },
  sending: {
    "delivered -> sent":
      "the receiver answered 2xx; or the bounds on attempts and age, once one of several recipients has the mail",
    "shadowed -> discarded": "its receiver has shadow: true | none; every other rule takes it for sent",
    "deferred -> retry":
      "network error, time-out, 408, 425, 429, 5xx or an expired lease, with attempts < 14 and age < 24 h | next_attempt_at by the retry schedule, or later if Retry-After asks for it",
    "refused -> failed":
      "any other status, or the bounds on attempts and age | kept as a dead letter until replayed or aged out; a refused firing counts as not received",
    "withdrawn -> pending":
      "its attempt has not begun when the service stops, or 5 s after the claim, less with a lease below 20 s; or the receiver refused its digest | attempts as before the claim; due since before the claim",
  },
  retry: {
    "claimed -> sending": CLAIMED,
    "held -> retry":
      "a firing up to the severity of an acknowledgement, while that is in force, as found when it is claimed | no attempt before the acknowledgement ends; attempts stay counted",
    "released -> retry":
      "an operator releases it: a firing that an acknowledgement holds | due immediately; nothing holds it any more",
    "gathered -> retry": "as for pending | due at the end of the minute",
    "coalesced -> discarded":
      "a firing that an acknowledgement held, when that has ended: its receiver may know its id, so what it is owed has a row of its own",
    "followed -> retry": "a later item of its incident and receiver becomes due | due immediately",
    "incident_resolved -> discarded":
      "a firing whose incident resolved, that an acknowledgement held, or at a receiver with resolved: false or of type apprise; also during the attempt that failed",
    "agent_gone -> discarded": `${AGENT_GONE}; also during the attempt that failed`,
    "notifier_gone -> discarded": NOTIFIER_GONE,
  },
  sent: {
    "bounced -> failed":
      "a delivery report says that its mail could not be delivered to its only recipient | `last_error` is `bounced: STATUS`; it counts as refused for good",
  },
  failed: {
    "replayed -> pending":
      "an operator replays it; not a firing of a resolved incident | attempts 0, age starts again, same id",
  },
})

export type DiscardReason = Extract<
  (typeof OutboxTransitions)[number],
  { readonly to: "discarded" }
>["trigger"]

export const toOutboxItem = (record: OutboxRecord): NotificationOutboxItem => ({
  ...Struct.pick(record, ["id", "notifier", "state", "incident_id", "event_type", "attempts"]),
  next_attempt_at: record.next_attempt_at ?? null,
  last_error: isShadow(record) ? "shadow" : (record.last_error ?? null),
  updated_at: record.updated_at,
})

import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { IncidentTimeline } from "../../kernel/ports/Storage.ts"
import { UNTIL_A_CHANGE } from "../firings/Hold.ts"
import type { NextFiring } from "../firings/nextFirings.ts"
import type { Outlook } from "../firings/readHolds.ts"
import type { IncidentChangeRecord, IncidentLogRecord } from "../model/IncidentRecord.ts"
import { FIRST_CHANGES, LAST_CHANGES, STORY_CHANGES } from "../../kernel/model/timelineCut.ts"
import { SYSTEM } from "../../kernel/ports/CurrentOperator.ts"
import { isHeld, isUnended, type OutboxRecord, wasAttempted } from "../model/OutboxRecord.ts"
import { explainNotification, reasonOf } from "./explainNotification.ts"
import { ruleOfCause, ruleOfDiscard, ruleOfHold } from "./tracedRules.ts"

/** The kinds of entries of a trace, in the order of one moment. */
export type TracedEvent = "event" | "action" | "evaluation" | "claim" | "result" | "now" | "next"

/** One decision about an incident. */
interface TraceEntry {
  /** Absent where only a change of the incident or of the policy decides. */
  readonly at: Instant.Instant | undefined
  readonly event: TracedEvent
  /** A receiver, a check, or `incident`. */
  readonly about: string
  readonly decided: string
  /** The rule that decides, with its anchor. */
  readonly rule: string
  readonly because: string
}

/** An incident with its rows, and with the decisions about its present and next firings. */
export interface TracedTimeline
  extends IncidentTimeline, Pick<Outlook, "held" | "heldItems" | "next" | "now"> {
  readonly silences: ReadonlyArray<{
    readonly silence: Record<"starts_at" | "ends_at", Instant.Instant> & { readonly id: string }
  }>
  readonly served: ReadonlySet<NotifierName>
}

const DELIVERY = "docs/rules.md#delivery"
const DEAD_LETTERS = "docs/rules.md#dead-letters"
const RELEASE = "docs/rules.md#release"

const ORDER: ReadonlyArray<TracedEvent> = ["event", "action", "evaluation", "claim", "result", "now", "next"]

/**
 * The decisions about an incident, oldest first, each with its rule (docs/rules.md#traces). They follow from the
 * rows and from the outlook, so that no decision writes anything for it. Of a long trace, the middle is left out.
 */
export const traceIncident = (timeline: TracedTimeline) => {
  const { changes, incident, log, next, outbox } = timeline
  const items = bothEnds(outbox.toReversed())
  const moments = new Set(changes.map(({ changed_at }) => changed_at))
  const all = [
    ...tracedChanges(changes),
    ...log.toReversed().flatMap(tracedAct),
    ...items.flatMap((item) => tracedItem(item, timeline, moments)),
    ...next.map((firing) => tracedNext(firing, timeline)),
    ...notifiesNoReceiver(timeline),
  ].toSorted(inTime)
  const entries = bothEnds(all)
  return {
    incident_id: incident.id,
    entries: entries.map((entry) => ({ ...entry, at: entry.at ?? null })),
    left_out:
      all.length -
      entries.length +
      (outbox.length - items.length) +
      Math.max(incident.member_changes - changes.length, 0),
  }
}

/** How it began, and the end: a trace of all of ten thousand notifications would keep other requests waiting. */
const bothEnds = <Row>(rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
  rows.length <= STORY_CHANGES ? rows : [...rows.slice(0, FIRST_CHANGES), ...rows.slice(-LAST_CHANGES)]

const inTime = (one: TraceEntry, other: TraceEntry): number => {
  const [a, b] = [one.at ?? Instant.LATEST, other.at ?? Instant.LATEST]
  return a < b ? -1 : a > b ? 1 : ORDER.indexOf(one.event) - ORDER.indexOf(other.event)
}

const tracedChanges = (newestFirst: ReadonlyArray<IncidentChangeRecord>): ReadonlyArray<TraceEntry> =>
  newestFirst
    .map((change, place): TraceEntry => ({
      at: change.changed_at,
      event: "event",
      about: `${change.agent_id}/${change.check_id}`,
      decided: changeText(change, newestFirst[place + 1]),
      rule: "docs/rules.md#incidents",
      because:
        change.change === "left"
          ? "the check is ok, deleted or in another incident"
          : `the check ${DID[change.change]} ${change.severity}`,
    }))
    .toReversed()

const DID = { joined: "joined it as", worsened: "worsened to", improved: "improved to" } as const

const changeText = (
  { incident_severity: severity, seq }: IncidentChangeRecord,
  before: IncidentChangeRecord | undefined,
): string => {
  if (severity === undefined) return "resolve the incident"
  if (seq === 1) return `open the incident as ${severity}`
  return before?.incident_severity === severity
    ? `keep the incident ${severity}`
    : `make the incident ${severity}`
}

const ACTS: Readonly<Record<Exclude<IncidentLogRecord["action"], "noted">, string>> = {
  acknowledged: "acknowledge the incident",
  withdrawn: "withdraw the acknowledgement",
  worsened: "end the acknowledgement: the incident worsened",
  ran_out: "end the acknowledgement: its time is over",
}

const tracedAct = ({
  ack_until,
  action,
  actor,
  logged_at,
  text,
}: IncidentLogRecord): ReadonlyArray<TraceEntry> =>
  action === "noted"
    ? []
    : [
        {
          at: logged_at,
          event: actor === SYSTEM ? "evaluation" : "action",
          about: "incident",
          decided: `${ACTS[action]}${action === "acknowledged" && ack_until !== undefined ? ` until ${Instant.format(ack_until)}` : ""}`,
          rule: "docs/rules.md#acknowledgements",
          because:
            actor === SYSTEM
              ? "Tocsin did it by this rule"
              : `${actor} did it${text === undefined ? "" : `: ${text}`}`,
        },
      ]

const tracedItem = (
  item: OutboxRecord,
  timeline: TracedTimeline,
  changedAt: ReadonlySet<Instant.Instant>,
): ReadonlyArray<TraceEntry> => {
  const { heldItems, next, now } = timeline
  const entry = (given: Entry): TraceEntry => ({ about: item.receiver, ...given })
  const why = explainNotification(item, { ...timeline, held: heldItems.get(item.id) })
  const onCall = (item.rotas ?? []).join(", ")
  const entries = [
    entry({
      at: item.created_at,
      event: changedAt.has(item.created_at) ? "event" : "evaluation",
      decided:
        item.event_type === "resolved"
          ? "send a resolved"
          : `${wasHeld(item) ? "hold" : "send"} a firing of ${item.severity}`,
      rule: ruleOfCause(item),
      because: `${reasonOf(item)}${onCall === "" ? "" : `; named by the rota ${onCall}`}`,
    }),
    ...tracedFreedom(item, timeline).map(entry),
  ]
  if (item.first_attempted_at !== undefined)
    entries.push(
      entry({
        at: item.first_attempted_at,
        event: "claim",
        decided: "attempt it for the first time",
        rule: DELIVERY,
        because: "it was due, and nothing held it",
      }),
    )
  if (!isUnended(item)) return [...entries, entry(tracedEnd(item, why))]
  if (item.state === "retry")
    entries.push(
      entry({
        at: item.updated_at,
        event: "result",
        decided: `try again${item.next_attempt_at === undefined ? "" : ` at ${Instant.format(item.next_attempt_at)}`}`,
        rule: DELIVERY,
        because: item.last_error ?? "its last attempt failed",
      }),
    )
  // The next firing of the receiver says more of it.
  if (heldItems.has(item.id) && next.some(({ receiver }) => receiver === item.receiver)) return entries
  const held = heldItems.get(item.id)?.held_by[0]
  const rule = held === undefined ? DELIVERY : ruleOfHold(held)
  const decided = item.state === "sending" ? `attempt it: attempt ${item.attempts}` : "wait"
  return [...entries, entry({ at: now, event: "now", decided, rule, because: why })]
}

const isReplayed = ({ age_starts_at, first_attempted_at }: OutboxRecord): boolean =>
  first_attempted_at !== undefined && first_attempted_at < age_starts_at

const wasHeld = (item: OutboxRecord): boolean =>
  isHeld(item) ||
  item.released_at !== undefined ||
  (item.age_starts_at > item.created_at && !isReplayed(item))

type Entry = Omit<TraceEntry, "about">

/** The moments at which a firing became due that was held or had failed. A row keeps only the last of each. */
const tracedFreedom = (item: OutboxRecord, timeline: TracedTimeline): ReadonlyArray<Entry> => {
  const { age_starts_at: at, created_at, released_at } = item
  const entries: Array<Entry> = []
  if (released_at !== undefined) {
    const because = "an operator released it"
    entries.push({ at: released_at, event: "action", decided: "end its holds", rule: RELEASE, because })
  }
  if (at > created_at && at !== released_at) {
    const [event, decided, rule, because] = isReplayed(item)
      ? (["action", "start its attempts over", DEAD_LETTERS, "an operator replayed it"] as const)
      : (["evaluation", "make it due", "docs/rules.md#holds", whyFreed(item, timeline)] as const)
    entries.push({ at, event, decided, rule, because })
  }
  return entries
}

/** Rows forget holds that have ended: silences and acknowledgements are kept elsewhere. */
const whyFreed = ({ age_starts_at, created_at }: OutboxRecord, { log, silences }: TracedTimeline): string => {
  const ended = silences
    .map(({ silence }) => silence)
    .filter(({ ends_at }) => created_at < ends_at && ends_at <= age_starts_at)
    .map(({ id }) => `silence:${id}`)
  const isAcknowledged = log.some(
    ({ ack_until = age_starts_at, action, logged_at }) =>
      action === "acknowledged" && logged_at < age_starts_at && created_at < ack_until,
  )
  const meanwhile = [...ended, ...(isAcknowledged ? ["ack"] : [])].join(", ")
  return `its holds ended${meanwhile === "" ? "" : `; in force while it waited: ${meanwhile}`}`
}

const tracedEnd = (item: OutboxRecord, why: string): Entry => {
  const { attempts, discarded_because, last_error, state, updated_at: at } = item
  const tried = `${attempts} attempt${attempts === 1 ? "" : "s"}`
  if (state === "sent") {
    const because = `the receiver took it, after ${tried}`
    return { at, event: "result", decided: "sent", rule: DELIVERY, because }
  }
  if (state === "failed") {
    const because = `${last_error ?? "refused, or attempted for too long"}, after ${tried}`
    return { at, event: "result", decided: "stop: it failed", rule: DEAD_LETTERS, because }
  }
  const event = wasAttempted(item) ? "result" : "evaluation"
  return { at, event, decided: "discard it", rule: ruleOfDiscard(discarded_because), because: why }
}

const tracedNext = ({ cause, due, holds, receiver }: NextFiring, { now }: TracedTimeline): TraceEntry => {
  const ends = holds.map(({ until }) => until).reduce(Instant.max, due ?? now)
  const held = holds.map(
    ({ by, until }) =>
      `held by ${by} until ${until === UNTIL_A_CHANGE ? "something changes" : Instant.format(until)}`,
  )
  const [first] = holds
  return {
    at: ends === UNTIL_A_CHANGE ? undefined : ends,
    event: "next",
    about: receiver,
    decided: holds.length > 0 ? "send a firing once nothing holds it" : "send a firing",
    rule: first === undefined ? ruleOfCause({ cause, event_type: "firing" }) : ruleOfHold(first.by),
    because: [reasonOf({ cause, event_type: "firing" }), ...held].join("; "),
  }
}

const notifiesNoReceiver = ({
  held,
  incident,
  next,
  now,
  outbox,
}: TracedTimeline): ReadonlyArray<TraceEntry> => {
  if (outbox.length > 0 || next.length > 0) return []
  const [by] = held?.held_by ?? []
  return [
    {
      at: now,
      event: "now",
      about: "incident",
      decided: "notify no receiver",
      rule: by === undefined ? "docs/rules.md#firings" : ruleOfHold(by),
      because:
        held !== undefined
          ? `held by ${held.held_by.join(", ")}`
          : incident.announced === undefined
            ? "none of its results had notifications enabled"
            : "no route names a receiver that servers send to",
    },
  ]
}

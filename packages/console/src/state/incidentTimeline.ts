import type { AuditEntry, HeldOutboxItem, Incident, IncidentDetail } from "@tocsin/client"
import { countText, momentText } from "../format/times.ts"
import { causeText } from "./causeText.ts"
import { endText } from "./incidentActions.ts"
import { type Faults, NO_FAULTS, unreachedText } from "./health.ts"
import { namesIn } from "./names.ts"
import { holdText, untilText } from "./holdText.ts"

interface TimelineEntry {
  readonly at: string
  readonly kind: string
  readonly by?: string | undefined
  readonly text: string
}

type Member = Pick<IncidentDetail["members"][number], "agent_id" | "check_id">

/** A member's agent and check; where an agent is silent, it is the member itself, without a check. */
export const subjectOf = ({ agent_id, check_id }: Member) => ({
  agent_id,
  check_id: check_id.startsWith("@") ? undefined : check_id,
})

export const memberText = (member: Member): string => {
  const { agent_id, check_id } = subjectOf(member)
  return check_id === undefined ? agent_id : `${agent_id}/${check_id}`
}

const ACTS: Readonly<Record<string, string>> = {
  acknowledged: "acknowledged it",
  withdrawn: "withdrew the acknowledgement",
  worsened: "ended the acknowledgement: the incident became worse",
  ran_out: "ended the acknowledgement: its time was over",
  noted: "noted",
}

const CHANGES: Readonly<Record<IncidentDetail["timeline"][number]["change"], string>> = {
  joined: "is",
  worsened: "worsened to",
  improved: "improved to",
  left: "left the incident",
}

type Delivery = IncidentDetail["deliveries"][number]

/** Causes whose name is not a word for people. */
const CAUSES: Readonly<Record<string, string>> = {
  ack_ran_out: "acknowledgement expired",
  handover: "handed over",
}

export const causeWords = (cause: HeldOutboxItem["cause"] | undefined): ReadonlyArray<string> =>
  typeof cause === "string" ? [CAUSES[cause] ?? cause] : []

/** The receiver of a notification, and why there is one: `pager (opened)`. */
const nameOf = ({ event_type, receiver, cause }: Delivery): string =>
  `${receiver} (${causeWords(cause).join("") || event_type})`

/** States of a notification that has not ended. */
const ON_ITS_WAY = ["pending", "sending", "retry"]

const deliveryText = (delivery: Delivery, faults: Faults): string => {
  const { state, held_by, attempts, last_error, receiver } = delivery
  const name = nameOf(delivery)
  const fault = ON_ITS_WAY.includes(state) ? faults.get(receiver) : undefined
  if (fault !== undefined) return unreachedText(name, fault)
  if (held_by.length > 0) return `notification to ${name} held: ${held_by.map(holdText).join("; ")}`
  const did = state === "sent" ? `notified ${name}` : `notification to ${name} ${state}`
  const tried = attempts > 1 ? ` after ${countText(attempts, "attempt")}` : ""
  return `${did}${tried}${typeof last_error === "string" ? `: ${last_error}` : ""}`
}

const BY_HAND: Readonly<Record<string, readonly [did: string, state: string]>> = {
  "notification.replayed": ["replayed", "had failed"],
  "notification.released": ["released", "was held"],
}

/** The actions of the audit, since an incident opened, that its timeline needs. */
export const auditedActions = ({ deliveries, silences }: Pick<IncidentDetail, "deliveries" | "silences">) => [
  ...(deliveries.length > 0 ? Object.keys(BY_HAND) : []),
  ...(silences.some(({ state }) => state === "expired") ? ["silence.expired"] : []),
]

const sentByHand = (
  deliveries: ReadonlyArray<Delivery>,
  audit: ReadonlyArray<AuditEntry>,
): ReadonlyArray<TimelineEntry> =>
  audit.flatMap(({ at, actor, action, subjects }) => {
    const [did, state] = BY_HAND[action] ?? []
    if (did === undefined) return []
    return deliveries
      .filter(({ id }) => subjects.some((subject) => subject.id === id))
      .map((delivery) => ({
        at,
        kind: "action",
        by: actor,
        text: `${did} the notification to ${nameOf(delivery)}, which ${state}`,
      }))
  })

/** The silences that covered an incident, as far as it was open, and who ended one before its time. */
const silenceEntries = (
  { incident, silences }: Pick<IncidentDetail, "incident" | "silences">,
  audit: ReadonlyArray<AuditEntry>,
  now: number,
): ReadonlyArray<TimelineEntry> => {
  const isOver = (ends_at: string) => Date.parse(ends_at) <= Date.parse(incident.resolved_at ?? momentOf(now))
  return silences.flatMap(({ comment, covers_all, created_by, ends_at, id, starts_at }) => {
    const what = covers_all ? "it" : "a part of it"
    const ended = audit.find(
      ({ action, subjects }) => action === "silence.expired" && subjects.some((subject) => subject.id === id),
    )
    const until = ended === undefined ? untilText(ends_at, now) : ""
    const begins = { at: starts_at, by: created_by, text: `silenced ${what}${until}: ${comment}` }
    const byHand = ended && { at: ended.at, by: ended.actor, text: "ended the silence" }
    const ends = byHand ?? { at: ends_at, text: "the silence ended" }
    return (isOver(ends.at) ? [begins, ends] : [begins]).map((entry) => ({ ...entry, kind: "action" }))
  })
}

const momentOf = (now: number): string => new Date(now).toISOString()

/** The parts of a text: addresses, which a reader can follow, are the odd ones. */
export const linksIn = (text: string): ReadonlyArray<string> =>
  text.split(/(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]])/u)

/**
 * Everything that happens to an incident, newest first: whom it notifies next, members, acts, silences and
 * deliveries. Rows do not keep what was before a replay, nor who ended a silence: the audit adds these.
 */
export const timelineOf = (
  { incident, timeline, log, deliveries, members, next, silences }: IncidentDetail,
  audit: ReadonlyArray<AuditEntry>,
  now: number,
  faults = NO_FAULTS,
): ReadonlyArray<TimelineEntry> => {
  const shown = namesIn(members, memberText)
  const names = new Map(members.map((member) => [memberText(member), shown(member)]))
  const nameOfMember = (member: Member) => names.get(memberText(member)) ?? memberText(member)
  return [
    ...next.map((firing) => ({
      at: firing.due_at ?? momentOf(now),
      kind: "next",
      text: `notifies ${nextText(firing, now)}`,
    })),
    ...(typeof incident.resolved_at === "string"
      ? [
          {
            at: incident.resolved_at,
            kind: "end",
            text: ["resolved", endText(incident) ?? []].flat().join(": "),
          },
        ]
      : []),
    ...timeline.map(({ at, change, severity, ...member }) => ({
      at,
      kind: "change",
      text: `${nameOfMember(member)} ${CHANGES[change]}${change === "left" ? "" : ` ${severity}`}`,
    })),
    ...log.map(({ at, action, by, text, until }) => {
      const ends = action === "acknowledged" ? untilText(until, now) : ""
      const said = text === undefined ? "" : `: ${text}`
      return { at, kind: "action", by, text: `${ACTS[action] ?? action}${ends}${said}` }
    }),
    ...sentByHand(deliveries, audit),
    ...silenceEntries({ incident, silences }, audit, now),
    ...deliveries.flatMap((delivery) =>
      delivery.updated_at === undefined
        ? []
        : [{ at: delivery.updated_at, kind: "delivery", text: deliveryText(delivery, faults) }],
    ),
    { at: incident.opened_at, kind: "end", text: "opened" },
  ].sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

/** How many incidents of the same key opened within an hour, up to and with this one. */
export const openingsOf = (
  { incident_key, opened_at }: Pick<Incident, "incident_key" | "opened_at">,
  others: ReadonlyArray<Pick<Incident, "incident_key" | "opened_at">>,
): number =>
  others.filter((other) => {
    const before = Date.parse(opened_at) - Date.parse(other.opened_at)
    return other.incident_key === incident_key && before >= 0 && before <= 3_600_000
  }).length

/** The silences that hold a notification of an incident now. */
export const holdingSilences = ({ deliveries, held_by, silences }: IncidentDetail) => {
  const holds = new Set([held_by, ...deliveries.map((delivery) => delivery.held_by)].flat())
  return silences.filter(({ id }) => holds.has(`silence:${id}`))
}

const receiversOf = (deliveries: IncidentDetail["deliveries"], states: ReadonlyArray<string>): string =>
  Array.from(
    new Set(deliveries.filter(({ state }) => states.includes(state)).map(({ receiver }) => receiver)),
  ).join(", ")

const unnotifiedText = (isQuiet: boolean): string =>
  isQuiet
    ? "Nobody was notified: its agent sent the result with notifications disabled."
    : "Nobody was notified: no result of it came with notifications enabled, or no route leads to a receiver."

export const firingsOf = ({ deliveries }: Pick<IncidentDetail, "deliveries">): IncidentDetail["deliveries"] =>
  deliveries.filter(({ event_type }) => event_type === "firing")

/** A receiver that was notified, as people read it: `chat: 10:00, opened, critical`. */
const notifiedText = (
  { at, cause, receiver, severity }: IncidentDetail["notified"][number],
  now: number,
): string =>
  `${receiver}: ${[momentText(Date.parse(at), now), causeWords(cause), severity].flat().join(", ")}`

/** A firing that comes next, as people read it: `pager: 10:15, escalation`. */
const nextText = (
  { cause, due_at, holds, receiver }: IncidentDetail["next"][number],
  now: number,
): string => {
  const due = due_at === null ? (holds.length === 0 ? "now" : []) : momentText(Date.parse(due_at), now)
  const held = holds.map(({ hold, until }) => `held: ${holdText(hold)}${untilText(until ?? undefined, now)}`)
  return `${receiver}: ${[due, causeWords(cause), held].flat().join(", ")}`
}

const deliverySentences = (
  { deliveries, next, notified }: Pick<IncidentDetail, "deliveries" | "next" | "notified">,
  isQuiet: boolean,
  now: number,
  faults: Faults,
): ReadonlyArray<string> => {
  const firings = firingsOf({ deliveries })
  const named = [
    [receiversOf(firings, ["failed"]), "Not notified, because delivery failed for good"],
    [receiversOf(firings, ["retry"]), "Not notified yet, because the receiver did not take it; tried again"],
  ] as const
  // Newest first: the last firing of a receiver that got none and gets none says why.
  const unsent = firings.filter(
    ({ receiver }, index) =>
      firings.findIndex((each) => each.receiver === receiver) === index &&
      next.every((each) => each.receiver !== receiver) &&
      firings.every((each) => each.receiver !== receiver || ["discarded", "pending"].includes(each.state)),
  )
  return [
    ...(firings.length + next.length === 0 ? [unnotifiedText(isQuiet)] : []),
    ...notified.map((receiver) => `Notified: ${notifiedText(receiver, now)}.`),
    ...named.filter(([names]) => names !== "").map(([names, what]) => `${what}: ${names}.`),
    ...next.map((firing) => `Next: ${nextText(firing, now)}.`),
    ...unsent.map(({ receiver, why }) => {
      const fault = faults.get(receiver)
      return `${fault === undefined ? `${receiver} was not notified: ${why}` : unreachedText(receiver, fault)}.`
    }),
  ]
}

const acknowledgedText = (
  { by, note, until }: NonNullable<IncidentDetail["acknowledgement"]>,
  now: number,
): string => `${by} has acknowledged it${untilText(until, now)}${note === undefined ? "." : `: ${note}`}`

/**
 * Why an incident is open, and why each notification was or was not sent, a sentence each.
 * `isQuiet` if its last change came with notifications disabled.
 */
export const explanationOf = (
  detail: IncidentDetail,
  isQuiet: boolean,
  now: number,
  faults = NO_FAULTS,
): ReadonlyArray<string> => {
  const { acknowledgement, incident, members } = detail
  return [
    causeText(incident, members),
    ...(acknowledgement === null || incident.state !== "open"
      ? []
      : [acknowledgedText(acknowledgement, now)]),
    ...deliverySentences(detail, isQuiet, now, faults),
  ]
}

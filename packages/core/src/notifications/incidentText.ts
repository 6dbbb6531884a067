import type { Duration } from "effect"
import type { CheckId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { plainLine } from "@tocsin/contract/plainLine"
import { largestUnits } from "@tocsin/contract/durationMillis"
import { formatDuration } from "@tocsin/contract/DurationText"
import { cutText, type TextMedium } from "./cutText.ts"
import { detailLines } from "./messageDetails.ts"
import { HEARTBEAT, SEVERITY_RANK } from "../model/MemberRecord.ts"
import type { DeliveryAttempt } from "../ports/Notifiers.ts"

export type NotifiedIncident = DeliveryAttempt["incident"]

export const testText = "TEST: Tocsin reaches you here. Nothing is wrong."

/** The check for receivers; a heartbeat incident has none (docs/rules.md#heartbeat-incidents). */
export const checkIdOf = (id: CheckId | undefined): CheckId | undefined => (id === HEARTBEAT ? undefined : id)

const placeOf = (agent: string, check: CheckId): string => {
  const shown = checkIdOf(check)
  return shown === undefined ? agent : `${agent}/${shown}`
}

/** Default keys: the check's own, as text or, if that is too long, as its hash. */
const isDefaultKey = ({ incident_key, opener_agent_id, opener_check_id }: NotifiedIncident): boolean =>
  incident_key === `${opener_agent_id}/${opener_check_id}` || /^sha256:[0-9a-f]{64}$/.test(incident_key)

/** The incident's name for its whole life: the check that opened it, or the key that checks share. */
export const whereText = (incident: NotifiedIncident): string =>
  isDefaultKey(incident)
    ? placeOf(incident.opener_agent_id, incident.opener_check_id)
    : plainLine(incident.incident_key)

/** The only check of a shared key. */
const checkOf = (incident: NotifiedIncident): string | undefined => {
  const { agent_id, check_id } = incident
  return isDefaultKey(incident) || agent_id === undefined || check_id === undefined
    ? undefined
    : placeOf(agent_id, check_id)
}

const MICROS_PER_SECOND = 1_000_000n

/** The time between two instants, cut to seconds, in its two largest units: `2 h 5 min`. */
const spanText = (from: Instant.Instant, to: Instant.Instant): string => {
  const seconds = to > from ? Number(to / MICROS_PER_SECOND - from / MICROS_PER_SECOND) : 0
  const parts = largestUnits(seconds, 2)
  return parts.map(({ count, unit }) => `${count} ${unit === "m" ? "min" : unit}`).join(" ") || "0 s"
}

/** The severity and place of an event: `CRITICAL: web-1/disk`. */
const titleOf = ({ event_type, severity, incident }: DeliveryAttempt): string =>
  event_type === "firing"
    ? `${severity.toUpperCase()}: ${whereText(incident)}`
    : `RESOLVED: ${whereText(incident)} (was ${severity})`

const timeOf = ({ event_type, incident: { opened_at, resolved_at } }: DeliveryAttempt): string => {
  if (resolved_at === undefined) return `Since ${Instant.momentText(opened_at)}`
  const span = `From ${Instant.momentText(opened_at)} to ${Instant.momentText(resolved_at)} (${spanText(opened_at, resolved_at)})`
  return event_type === "firing" ? `${span}: resolved by now` : span
}

const listFacts = (notification: DeliveryAttempt): ReadonlyArray<string> => {
  const { cause, event_type, incident } = notification
  const check = checkOf(incident)
  return [
    timeOf(notification),
    ...(cause === "handover" ? ["Handed over: you are on call now"] : []),
    ...(event_type === "firing" && incident.members > 1 ? [`${incident.members} checks are not ok`] : []),
    ...(check === undefined ? [] : [`Check: ${check}`]),
  ]
}

/** The label of a link that acknowledges. */
export const acknowledgeText = (length: Duration.Duration): string =>
  `Acknowledge for ${formatDuration(length)}`

/** A link of a message, with its title; `acts` if a POST to it acknowledges. */
export interface NamedLink {
  readonly title: string
  readonly url: string
  readonly acts?: true
}

/** The links of a notification, the incident's first. */
export const linksOf = ({ links, runbook }: DeliveryAttempt): ReadonlyArray<NamedLink> => {
  const acknowledge = links?.acknowledge
  return [
    ...(links === undefined ? [] : [{ title: "Incident", url: links.incident }]),
    ...(runbook === undefined ? [] : [{ title: runbook.note ?? "Runbook", url: runbook.url }]),
    ...(acknowledge === undefined
      ? []
      : [{ title: acknowledgeText(acknowledge.for), url: acknowledge.url, acts: true } as const]),
  ]
}

/** The last lines. No character of an address needs an escape, which would break it. */
const endOf = (notification: DeliveryAttempt, { escape, hasLinks }: TextMedium): ReadonlyArray<string> => [
  // A link leads to the incident; without one, its ID is how to find it.
  ...(notification.links === undefined ? [escape(`Incident: ${notification.incident.id}`)] : []),
  ...(hasLinks ? [] : linksOf(notification).map(({ title, url }) => `${escape(title)}: ${url}`)),
]

/** The headline. That of the fault is no longer true in a resolution, unlike what a late job reported in the end. */
export const headlineIn = ({ event_type, incident, summary = "" }: DeliveryAttempt): string => {
  const line = plainLine(summary)
  const isPast = event_type === "resolved" && summary === incident.summary && line !== ""
  return isPast ? `Was: ${line}` : line
}

/** A notification as text: severity and place, summary, time, the incident's ID or links, and then details. */
export const incidentText = (notification: DeliveryAttempt, medium: TextMedium): string => {
  const { limit, escape } = medium
  const title = escape(titleOf(notification))
  const facts = [escape(listFacts(notification).join("\n")), ...endOf(notification, medium)].join("\n")
  // Only the details are cut, and then the summary.
  const room = limit - title.length - facts.length - 2
  const summary = cutText(headlineIn(notification), { limit: room, escape })
  const own = [title, ...(summary === "" ? [] : [summary]), facts].join("\n")
  if (medium.hasDetails) return own
  // Behind a blank line.
  const details = detailLines(notification, medium, limit - own.length - 1)
  return details.length === 0 ? own : [own, "", ...details].join("\n")
}

/** Few people read further; the first line has the count. */
const MOST_LINES = 20

/** Less of a summary says nothing. */
const SHORTEST_SUMMARY = 8

/**
 * Several notifications of one type as one text: how many, then a line for each, the most severe
 * first and incidents that have resolved since last. Lines that do not fit are counted: only summaries
 * are cut, because places that are cut read alike.
 */
export const digestText = (
  notifications: ReadonlyArray<DeliveryAttempt>,
  { limit, escape }: TextMedium,
): string => {
  const total = notifications.length
  const shown = worstFirst(notifications).slice(0, total > MOST_LINES ? MOST_LINES - 1 : MOST_LINES)
  const titles = shown.map((notification) => escape(lineTitleOf(notification)))
  const textOf = (lines: ReadonlyArray<string>): string =>
    [
      digestTitle(notifications),
      ...lines,
      ...(lines.length < total ? [`… and ${total - lines.length} more`] : []),
    ].join("\n")
  while (titles.length > 1 && textOf(titles).length > limit) titles.pop()
  const room = Math.floor((limit - textOf(titles).length) / titles.length)
  const lines = shown.slice(0, titles.length).map((notification, index) => {
    const [title = "", summary] = [titles[index], withSummary("", notification)]
    if (room < 0) return cutText(lineTitleOf(notification), { limit: title.length + room, escape })
    return room < Math.min(SHORTEST_SUMMARY, escape(summary).length)
      ? title
      : `${title}${cutText(summary, { limit: room, escape })}`
  })
  return textOf(lines)
}

/** Severe ones first, and firings whose incident has resolved last. */
export const worstFirst = (notifications: ReadonlyArray<DeliveryAttempt>): ReadonlyArray<DeliveryAttempt> =>
  notifications.toSorted(
    (a, b) => Number(isOver(a)) - Number(isOver(b)) || SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity],
  )

export const digestTitle = (notifications: ReadonlyArray<DeliveryAttempt>): string =>
  `${notifications.length} incidents ${stateOf(notifications)}`

/** A firing can wait until its incident has resolved. */
export const isOver = ({ event_type, incident }: DeliveryAttempt): boolean =>
  event_type === "firing" && incident.resolved_at !== undefined

const stateOf = (notifications: ReadonlyArray<DeliveryAttempt>): string => {
  if (notifications.every(({ event_type }) => event_type === "resolved")) return "are resolved"
  const over = notifications.filter(isOver).length
  return over === 0 ? "are firing" : `fired, ${over} of them resolved by now`
}

const withSummary = (title: string, { summary = "" }: DeliveryAttempt): string => {
  const line = plainLine(summary)
  return line === "" ? title : `${title}: ${line}`
}

/** A notification in one line, the same at each attempt: the summary names the check of an incident that checks share. */
export const subjectOf = (notification: DeliveryAttempt): string =>
  withSummary(titleOf(notification), notification)

/** The same, as it is now: a firing whose incident has resolved says so. */
export const lineOf = (notification: DeliveryAttempt): string =>
  withSummary(lineTitleOf(notification), notification)

const lineTitleOf = (notification: DeliveryAttempt): string =>
  `${titleOf(notification)}${isOver(notification) ? " (resolved by now)" : ""}`

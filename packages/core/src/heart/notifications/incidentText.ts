import type { Duration } from "effect"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { largestUnits } from "@tocsin/contract/formats/durationMillis"
import { formatDuration } from "@tocsin/contract/formats/DurationText"
import { zonedText } from "@tocsin/contract/formats/zonedText"
import { cutHeadline } from "./cutHeadline.ts"
import { headlineNow, resolutionText } from "./resolutionText.ts"
import { cutText, plain, type TextMedium } from "./cutText.ts"
import { detailLines } from "./messageDetails.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import { SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import type { DeliveryAttempt } from "./Notifiers.ts"
import { sharedWhy, whyText, written } from "./whyText.ts"

export type NotifiedIncident = DeliveryAttempt["incident"]

export const testText = "TEST: Tocsin reaches you here. Nothing is wrong."

/** The check for receivers; a heartbeat incident has none (docs/rules.md#heartbeat-incidents). */
export const checkIdOf = (id: CheckId | undefined): CheckId | undefined => (id === HEARTBEAT ? undefined : id)

const placeOf = (agent: string, check: CheckId): string => {
  const shown = checkIdOf(check)
  return shown === undefined ? agent : `${agent}/${shown}`
}

/** Default keys: the check's own, also while it is late, as text or, if that is too long, as its hash. */
const isDefaultKey = ({ incident_key, opener_agent_id, opener_check_id }: NotifiedIncident): boolean => {
  const name = `${opener_agent_id}/${opener_check_id}`
  return [name, `${name}/@overdue`].includes(incident_key) || /^sha256:[0-9a-f]{64}$/.test(incident_key)
}

/** The incident's name: the check that opened it or the silent agent, by its title if it has one, or the key that checks share. */
export const whereText = (incident: NotifiedIncident, title?: string): string =>
  isDefaultKey(incident)
    ? (title ?? placeOf(incident.opener_agent_id, incident.opener_check_id))
    : plainLine(incident.incident_key)

/** The only check of a shared key, and one whose name is its title. */
const checkOf = ({ incident, title }: DeliveryAttempt): string | undefined => {
  const { agent_id, check_id, opener_agent_id, opener_check_id } = incident
  if (isDefaultKey(incident))
    return title === undefined ? undefined : placeOf(opener_agent_id, opener_check_id)
  return agent_id === undefined || check_id === undefined ? undefined : placeOf(agent_id, check_id)
}

const MICROS_PER_SECOND = 1_000_000n

/** The time between two instants, cut to seconds. */
const secondsOf = (from: Instant.Instant, to: Instant.Instant): number =>
  to > from ? Number(to / MICROS_PER_SECOND - from / MICROS_PER_SECOND) : 0

/** A length in its two largest units: `2 h 5 min`. */
const lengthText = (seconds: number): string => largestUnits(seconds, 2).map(written).join(" ") || "0 s"

/** The severity and place of an event: `CRITICAL: web-1/disk`. */
const titleOf = (
  { event_type, severity, incident, title }: DeliveryAttempt,
  { nameOf = plain }: Pick<TextMedium, "nameOf"> = {},
): string =>
  `${event_type === "firing" ? severity.toUpperCase() : "RESOLVED"}: ${nameOf(whereText(incident, title))}`

/** How a resolved incident ended; absent for a firing, and where an earlier version resolved it. */
export const endingIn = (
  { event_type, incident: { opened_at, resolution, resolved_at } }: DeliveryAttempt,
  lasting = lengthText,
): string | undefined =>
  event_type === "firing" || resolution === undefined
    ? undefined
    : resolutionText(resolution, lasting(secondsOf(opened_at, resolved_at ?? opened_at)))

const timeOf = ({ event_type, incident: { opened_at, resolved_at }, tz }: DeliveryAttempt): string => {
  if (resolved_at === undefined) return `Since ${zonedText(opened_at, tz)}`
  const span = `From ${zonedText(opened_at, tz)} to ${zonedText(resolved_at, tz)} (${lengthText(secondsOf(opened_at, resolved_at))})`
  return event_type === "firing" ? `${span}: resolved by now` : span
}

/** Who acknowledged the incident of a firing that goes out all the same, and until when. */
export const acknowledgedIn = (
  { acknowledgement, event_type, tz }: DeliveryAttempt,
  timeText = (at: Instant.Instant) => zonedText(at, tz),
): string | undefined =>
  event_type === "firing" && acknowledgement !== undefined
    ? `Acknowledged by ${acknowledgement.by} until ${timeText(acknowledgement.until)}`
    : undefined

const listFacts = (notification: DeliveryAttempt): ReadonlyArray<string> => {
  const { event_type, incident } = notification
  const check = checkOf(notification)
  return [
    ...[acknowledgedIn(notification) ?? []].flat(),
    timeOf(notification),
    ...(event_type === "firing" && incident.members > 1 ? [`${incident.members} checks are not ok`] : []),
    ...(check === undefined
      ? []
      : [`${incident.opener_check_id === HEARTBEAT ? "Agent" : "Check"}: ${check}`]),
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

/** The headline. That of the fault is no longer true in a resolution. */
export const headlineIn = ({ event_type, severity, summary = "" }: DeliveryAttempt): string => {
  const line = cutHeadline(plainLine(summary), severity)
  return event_type === "resolved" && line !== "" ? `Was: ${line}` : line
}

/** How an incident ended, and what its check says now. */
const endingLines = (notification: DeliveryAttempt): ReadonlyArray<string> => {
  const ending = endingIn(notification)
  const now = cutHeadline(plainLine(headlineNow(notification.incident.resolution) ?? ""), "ok")
  return ending === undefined ? [] : [ending, ...(now === "" ? [] : [`Now: ${now}`])]
}

/** Lines with one that says why they come: first, or behind a title that the medium shows apart. */
const withWhy = (
  [title = "", ...rest]: ReadonlyArray<string>,
  why: string | undefined,
  { escape, hasTitle, hasWhy }: TextMedium,
): string => {
  const line = why === undefined || hasWhy ? [] : [escape(why)]
  return [...(hasTitle ? [title, ...line] : [...line, title]), ...rest].join("\n")
}

/**
 * A notification as text: why it comes, severity and place, how it ended, summary, time, the incident's ID or links,
 * and then details.
 */
export const incidentText = (notification: DeliveryAttempt, medium: TextMedium): string => {
  const { limit, escape } = medium
  const lines = [titleOf(notification), ...endingLines(notification)].map((line) => escape(line))
  const title = withWhy(lines, whyText(notification), medium)
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

/** Lines of a digest that have a link. */
const MOST_LINKED = 10

/** The links of the first lines of a digest, as far as there is room beside all titles. */
const linksFor = (
  shown: ReadonlyArray<DeliveryAttempt>,
  room: number,
  { hasNoLinks }: TextMedium,
): ReadonlyArray<string | undefined> => {
  let left = room
  return shown.slice(0, hasNoLinks ? 0 : MOST_LINKED).map(({ links }) => {
    const link = links?.acknowledge?.url ?? links?.incident
    if (link === undefined || link.length >= left) return undefined
    left -= link.length + 1
    return link
  })
}

/** Less of a summary says nothing. */
const SHORTEST_SUMMARY = 8

/**
 * Several notifications of one type as one text: how many, then a line for each, the most severe
 * first and incidents that have resolved since last. Lines that do not fit are counted: only summaries
 * are cut, because places that are cut read alike.
 */
export const digestText = (notifications: ReadonlyArray<DeliveryAttempt>, medium: TextMedium): string => {
  const { limit, escape } = medium
  const why = sharedWhy(notifications)
  const total = notifications.length
  const shown = worstFirst(notifications).slice(0, total > MOST_LINES ? MOST_LINES - 1 : MOST_LINES)
  const titles = shown.map((notification) => escape(lineTitleOf(notification, medium)))
  const textOf = (lines: ReadonlyArray<string>): string =>
    withWhy(
      [
        digestTitle(notifications),
        ...lines,
        ...(lines.length < total ? [`… and ${total - lines.length} more`] : []),
      ],
      why,
      medium,
    )
  while (titles.length > 1 && textOf(titles).length > limit) titles.pop()
  const links = linksFor(shown.slice(0, titles.length), limit - textOf(titles).length, medium)
  const ends = links.map((link) => (link === undefined ? "" : ` ${link}`))
  const room = Math.floor((limit - textOf(titles).length - ends.join("").length) / titles.length)
  const lines = shown.slice(0, titles.length).map((notification, index) => {
    const [title = "", summary] = [titles[index], withSummary("", notification)]
    if (room < 0) return cutText(lineTitleOf(notification, medium), { limit: title.length + room, escape })
    const end = ends[index] ?? ""
    return room < Math.min(SHORTEST_SUMMARY, escape(summary).length)
      ? `${title}${end}`
      : `${title}${cutText(summary, { limit: room, escape })}${end}`
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

const withSummary = (title: string, notification: DeliveryAttempt): string => {
  const { severity, summary = "" } = notification
  const line = endingIn(notification) ?? cutHeadline(plainLine(summary), severity)
  return line === "" ? title : `${title}: ${line}`
}

/** A notification in one line, the same at each attempt: the summary names the check of an incident that checks share. */
export const subjectOf = (notification: DeliveryAttempt): string =>
  withSummary(titleOf(notification), notification)

/** The same, as it is now: a firing whose incident has resolved says so. */
export const lineOf = (notification: DeliveryAttempt, medium?: Pick<TextMedium, "nameOf">): string =>
  withSummary(lineTitleOf(notification, medium), notification)

const lineTitleOf = (notification: DeliveryAttempt, medium?: Pick<TextMedium, "nameOf">): string =>
  `${titleOf(notification, medium)}${isOver(notification) ? " (resolved by now)" : ""}`

import { cutHeadline } from "@tocsin/contract/formats/cutHeadline"
import { Duration } from "effect"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { formatDuration } from "@tocsin/contract/formats/DurationText"
import { fill } from "@tocsin/contract/languages/Words"
import { headlineNow, notRecoveredText, resolutionText, secondsOf } from "./resolutionText.ts"
import { cutText, plain, type TextMedium } from "./cutText.ts"
import { detailLines } from "./messageDetails.ts"
import { isOfLate } from "../model/IncidentRecord.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import type { DeliveryAttempt } from "./Notifiers.ts"
import { type Reader, readerTexts, type TextForm } from "./readerTexts.ts"
import { whyText } from "./whyText.ts"

export type NotifiedIncident = DeliveryAttempt["incident"]

/** A test to a reader. */
export const testText = (reader: Reader = {}, form?: TextForm): string =>
  readerTexts(reader, form).words.notification.test

/** How a line is written, as far as it does not depend on its room. */
export type Written = Pick<TextMedium, "form" | "nameOf">

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

/** The severity and place of an event: `CRITICAL: web-1/disk`. */
const titleOf = (notification: DeliveryAttempt, { form, nameOf = plain }: Written = {}): string => {
  const { event_type, severity, incident, title } = notification
  const { call, notification: words } = readerTexts(notification, form).words
  const state = event_type === "firing" ? words.statuses[severity] : call.resolved
  return fill(words.labelled, { name: state.toUpperCase(), value: nameOf(whereText(incident, title)) })
}

/** How the incident ended; absent while it is open, and where an earlier version resolved it. */
const howEnded = (notification: DeliveryAttempt, { form, nameOf }: Written = {}): string | undefined => {
  const { opened_at, resolution, resolved_at } = notification.incident
  if (resolution === undefined) return undefined
  const texts = readerTexts(notification, form)
  const seconds = secondsOf(opened_at, resolved_at ?? opened_at)
  return resolutionText(resolution, texts.length(seconds), texts.words.notification, nameOf)
}

/** That its check is not ok, or only a person says it is, though the incident ended; absent where it is. */
export const notOkIn = (notification: DeliveryAttempt, { form, nameOf }: Written = {}): string | undefined =>
  notRecoveredText(
    notification.incident.resolution,
    readerTexts(notification, form).words.notification,
    nameOf,
  )

const isFiring = ({ event_type }: DeliveryAttempt): boolean => event_type === "firing"

/** How a resolved incident ended; absent for a firing, and where an earlier version resolved it. */
export const endingIn = (notification: DeliveryAttempt, written?: Written): string | undefined =>
  isFiring(notification) ? undefined : howEnded(notification, written)

/** How the incident of a firing ended before that went out, where its check is not known to be ok. */
export const endedIn = (notification: DeliveryAttempt, written?: Written): string | undefined =>
  isFiring(notification) && notOkIn(notification) !== undefined ? howEnded(notification, written) : undefined

const timeOf = (notification: DeliveryAttempt): string => {
  const { opened_at, resolved_at } = notification.incident
  const texts = readerTexts(notification)
  const { since, span } = texts.words.notification
  const from = texts.time(opened_at, "second")
  if (resolved_at === undefined) return fill(since, { time: from })
  return fill(span, {
    from,
    to: texts.time(resolved_at, "second"),
    length: texts.length(secondsOf(opened_at, resolved_at)),
  })
}

/** Who acknowledged the incident of a firing that goes out all the same, and until when. */
export const acknowledgedIn = (
  notification: DeliveryAttempt,
  form: TextForm = "written",
): string | undefined => {
  const { acknowledgement, due_at, event_type } = notification
  if (event_type !== "firing" || acknowledgement === undefined) return undefined
  const { time, words } = readerTexts(notification, form)
  const until = time(acknowledgement.until, form === "written" ? "second" : "minute", due_at)
  return fill(words.notification.acknowledged, { name: acknowledgement.by, time: until })
}

/** That a resolved incident's check is not ok, or only a person says it is; absent for a firing, and where it is. */
export const notRecoveredIn = (notification: DeliveryAttempt, written?: Written): string | undefined =>
  isFiring(notification) ? undefined : notOkIn(notification, written)

/** Its check or silent agent, where the name of the incident is not that. */
export const checkIn = (notification: DeliveryAttempt): string | undefined => {
  const name = checkOf(notification)
  const { agent, check } = readerTexts(notification).words.notification
  const isSilence = notification.incident.opener_check_id === HEARTBEAT
  return name === undefined ? undefined : fill(isSilence ? agent : check, { name })
}

/** Who acknowledged it, whether its check is not ok though it ended, that or its agent, since when, and how many checks. */
export const listFacts = (notification: DeliveryAttempt): ReadonlyArray<string> => {
  const { event_type, incident } = notification
  const { counted, words } = readerTexts(notification)
  const { late, members } = words.notification
  const isLate = isOfLate(incident)
  const count = isLate ? late : members
  // The headline of one late check has its times.
  const hasTimes = event_type === "firing" && isLate && incident.members === 1
  return [
    ...[acknowledgedIn(notification) ?? []].flat(),
    ...(event_type === "firing" ? [notOkIn(notification) ?? []].flat() : []),
    ...[checkIn(notification) ?? []].flat(),
    ...(hasTimes ? [] : [timeOf(notification)]),
    ...(event_type === "firing" && incident.members > 1 ? [counted(count, incident.members)] : []),
  ]
}

/** The label of a link that acknowledges. */
export const acknowledgeText = (length: Duration.Duration, reader: Reader): string => {
  const texts = readerTexts(reader)
  const isEnglish = (reader.lang ?? "en") === "en"
  return fill(texts.words.notification.acknowledge, {
    length: isEnglish ? formatDuration(length) : texts.length(Duration.toSeconds(length)),
  })
}

/** A link of a message, with its title; `acts` if a POST to it acknowledges. */
export interface NamedLink {
  readonly title: string
  readonly url: string
  readonly acts?: true
}

/** The links of a notification, the incident's first. */
export const linksOf = (notification: DeliveryAttempt): ReadonlyArray<NamedLink> => {
  const { links, runbook } = notification
  const acknowledge = links?.acknowledge
  const { notification: words, page } = readerTexts(notification).words
  return [
    ...(links === undefined ? [] : [{ title: page.kinds.incident, url: links.incident }]),
    ...(runbook === undefined ? [] : [{ title: runbook.note ?? words.runbook, url: runbook.url }]),
    ...(acknowledge === undefined
      ? []
      : [
          {
            title: acknowledgeText(acknowledge.for, notification),
            url: acknowledge.url,
            acts: true,
          } as const,
        ]),
  ]
}

/** The last lines. No character of an address needs an escape, which would break it. */
const endOf = (notification: DeliveryAttempt, { escape, hasLinks }: TextMedium): ReadonlyArray<string> => {
  const { labelled } = readerTexts(notification).words.notification
  return hasLinks
    ? []
    : linksOf(notification).map(({ title, url }) => fill(labelled, { name: escape(title), value: url }))
}

/** The headline. That of the fault is no longer true in a resolution. */
export const headlineIn = (notification: DeliveryAttempt): string => {
  const { event_type, severity, summary = "" } = notification
  const line = cutHeadline(plainLine(summary), severity)
  return event_type === "resolved" && line !== ""
    ? fill(readerTexts(notification).words.notification.was, { line })
    : line
}

/** How an incident ended, whether its check is not ok, and what that says now. */
const endingLines = (notification: DeliveryAttempt): ReadonlyArray<string> => {
  const ending = endingIn(notification)
  if (ending === undefined) return []
  const now = headlineNow(notification.incident.resolution)
  const { now: labelled } = readerTexts(notification).words.notification
  return [ending, notRecoveredIn(notification) ?? "", now && fill(labelled, { line: now })].filter(Boolean)
}

/** The lines of a notification beside its links and details, by what they are for. */
export const incidentLines = (notification: DeliveryAttempt) => {
  const { notification: words, page } = readerTexts(notification).words
  const { incident, links } = notification
  // A link leads to the incident; without one, its ID is how to find it.
  const id = fill(words.labelled, { name: page.kinds.incident, value: incident.id })
  return {
    title: lineTitleOf(notification),
    ending: endingLines(notification),
    headline: headlineIn(notification),
    facts: [...listFacts(notification), ...(links === undefined ? [id] : [])],
  }
}

/** Lines with one that says why they come: first, or behind a title that the medium shows apart. */
export const withWhy = (
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
  const { ending, facts: known, headline, title: name } = incidentLines(notification)
  const title = withWhy([name, ...ending].map(escape), whyText(notification), medium)
  const facts = [escape(known.join("\n")), ...endOf(notification, medium)].join("\n")
  // Only the details are cut, and then the summary.
  const room = limit - title.length - facts.length - 2
  const summary = cutText(headline, { limit: room, escape })
  const own = [title, ...(summary === "" ? [] : [summary]), facts].join("\n")
  if (medium.hasDetails) return own
  // Behind a blank line.
  const details = detailLines(notification, medium, limit - own.length - 1)
  return details.length === 0 ? own : [own, "", ...details].join("\n")
}

/** A firing can wait until its incident has resolved. */
export const isOver = ({ event_type, incident }: DeliveryAttempt): boolean =>
  event_type === "firing" && incident.resolved_at !== undefined

export const withSummary = (title: string, notification: DeliveryAttempt, medium: Written = {}): string => {
  const { severity, summary = "" } = notification
  const line = endingIn(notification, medium) ?? cutHeadline(plainLine(summary), severity)
  return line === ""
    ? title
    : fill(readerTexts(notification, medium.form).words.notification.labelled, { name: title, value: line })
}

/** Its title, and of a firing whose incident has ended that it is over by now. */
export const lineTitleOf = (notification: DeliveryAttempt, medium: Written = {}): string => {
  const title = titleOf(notification, medium)
  const { ended_as, over } = readerTexts(notification, medium.form).words.notification
  const ending = endedIn(notification, medium)
  if (ending !== undefined) return fill(ended_as, { title, ending })
  return isOver(notification) ? fill(over, { title }) : title
}

/** A notification in one line: the summary names the check of an incident that checks share. */
export const subjectOf = (notification: DeliveryAttempt, medium: Written = {}): string =>
  withSummary(lineTitleOf(notification, medium), notification, medium)

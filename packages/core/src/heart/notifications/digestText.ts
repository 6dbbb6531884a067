import { SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import type { Language } from "@tocsin/contract/languages/Language"
import { fill } from "@tocsin/contract/languages/Words"
import { cutText, type TextMedium } from "./cutText.ts"
import {
  checkIn,
  endedIn,
  isOver,
  lineTitleOf,
  linksOf,
  listFacts,
  type NamedLink,
  notRecoveredIn,
  withSummary,
  withWhy,
} from "./incidentText.ts"
import type { DeliveryAttempt } from "./Notifiers.ts"
import { readerTexts, type TextForm } from "./readerTexts.ts"
import { sharedWhy } from "./whyText.ts"

/** Few people read further; the first line has the count. */
const MOST_LINES = 20

/** Lines of a digest that have a link; one of more lines has no facts below them. */
const MOST_LINKED = 10

/** The links of the first lines of a digest, as far as there is room beside all titles. */
const linksFor = (
  shown: ReadonlyArray<DeliveryAttempt>,
  room: number,
  { hasNoLinks }: TextMedium,
): ReadonlyArray<NamedLink | undefined> => {
  let left = room
  return shown.slice(0, hasNoLinks ? 0 : MOST_LINKED).map((notification) => {
    const links = linksOf(notification)
    const link =
      links.find(({ acts }) => acts) ?? links.find(({ url }) => url === notification.links?.incident)
    if (link === undefined || link.url.length >= left) return undefined
    left -= link.url.length + 1
    return link
  })
}

/** Less of a summary says nothing. */
const SHORTEST_SUMMARY = 8
/** Facts leave each summary so much. */
const SUMMARY_BESIDE_FACTS = 60

/** Between facts. */
export const SEPARATOR = " · "

/** Between the counts of the first line: {@link SEPARATOR} would make each SMS dearer. */
const COMMAS: Partial<Record<Language, string>> = { ja: "、", zh: "，" }

/** Begins the facts below a line: spaces at the beginning of one are lost in chats, or make it code. */
const BELOW = "↳ "

/** Where, and since when; of a resolution where, and that its check is not ok. */
const factsOf = (notification: DeliveryAttempt): string => {
  const isFiring = notification.event_type === "firing"
  const facts = isFiring ? listFacts(notification) : [notRecoveredIn(notification), checkIn(notification)]
  return facts.filter((fact) => fact !== undefined).join(SEPARATOR)
}

/** The facts below the lines of a digest, which is short enough to be read line by line. */
const factsFor = (
  shown: ReadonlyArray<DeliveryAttempt>,
  room: number,
  { escape, hasNoLinks }: TextMedium,
): ReadonlyArray<string> => {
  if (hasNoLinks) return []
  const facts = shown.map((notification) => escape(factsOf(notification)))
  const needed = facts.map((fact) => fact.length + BELOW.length + 1 + SUMMARY_BESIDE_FACTS)
  return needed.reduce((sum, length) => sum + length, 0) > room ? [] : facts
}

/** An incident of a digest: its line, the name in that, what stands below it, and its link. */
interface DigestEntry {
  readonly name: string
  readonly line: string
  readonly facts: string
  /** The part of the facts that names the check or the silent agent, if one does. */
  readonly check: string | undefined
  readonly link: NamedLink | undefined
}

/** The room of the lines of a digest. */
interface LineRoom {
  readonly medium: TextMedium
  /** Beside their titles. */
  readonly room: number
  readonly titles: ReadonlyArray<string>
  /** Whether facts may stand below them. */
  readonly hasFacts: boolean
}

/** The lines of the incidents that have one. */
const entriesOf = (
  fitting: ReadonlyArray<DeliveryAttempt>,
  { hasFacts, medium, room: most, titles }: LineRoom,
) => {
  const { escape } = medium
  const links = linksFor(fitting, most, medium)
  const ends = links.map((link) => (link === undefined ? "" : ` ${link.url}`))
  const left = most - ends.join("").length
  const facts = hasFacts ? factsFor(fitting, left, medium) : []
  const below = facts.map((fact) => (fact === "" ? "" : `\n${BELOW}${fact}`))
  const summaries = fitting.map((notification) => withSummary("", notification, medium))
  const spare = left - below.join("").length
  const isWhole = escape(summaries.join("")).length <= spare
  const room = isWhole ? spare : Math.floor(spare / titles.length)
  const lineOf = (notification: DeliveryAttempt, index: number): string => {
    const [name = "", summary = ""] = [titles[index], summaries[index]]
    if (room < 0) return cutText(lineTitleOf(notification, medium), { limit: name.length + room, escape })
    const isCut = room < Math.min(SHORTEST_SUMMARY, escape(summary).length)
    return isCut ? name : `${name}${cutText(summary, { limit: room, escape })}`
  }
  const entries = fitting.map((notification, index): DigestEntry => ({
    name: titles[index] ?? "",
    line: lineOf(notification, index),
    link: links[index],
    facts: facts[index] ?? "",
    check: checkIn(notification),
  }))
  return {
    entries,
    lines: entries.map(({ line }, index) => line + (ends[index] ?? "") + (below[index] ?? "")),
  }
}

/** A digest as a medium has it. */
interface Digest {
  readonly title: string
  readonly entries: ReadonlyArray<DigestEntry>
  readonly more: string | undefined
  readonly text: string
}

/**
 * Several notifications of one type, the most severe first and incidents that have resolved since last. Those that do
 * not fit are counted: only summaries are cut, because places that are cut read alike.
 */
export const digestOf = (notifications: ReadonlyArray<DeliveryAttempt>, medium: TextMedium): Digest => {
  const { limit, escape, form } = medium
  const why = sharedWhy(notifications)
  const total = notifications.length
  const { counted, words } = readerTexts(notifications[0] ?? {}, form)
  const shown = worstFirst(notifications).slice(0, total > MOST_LINES ? MOST_LINES - 1 : MOST_LINES)
  const titles = shown.map((notification) => escape(lineTitleOf(notification, medium)))
  const more = () =>
    titles.length < total ? counted(words.notification.more, total - titles.length) : undefined
  const textOf = (title: string, lines: ReadonlyArray<string>): string =>
    withWhy([title, ...lines, ...[more() ?? []].flat()], why, medium)
  const { count, kinds, over } = digestHead(notifications, form)
  const joined = (...parts: ReadonlyArray<string>) =>
    parts.join(COMMAS[notifications[0]?.lang ?? "en"] ?? ", ")
  const [short, whole] = [joined(count, ...over), joined(count, ...kinds, ...over)]
  while (titles.length > 1 && textOf(short, titles).length > limit) titles.pop()
  const fitting = shown.slice(0, titles.length)
  const digestWith = (title: string, room: number): Digest => {
    const { entries, lines } = entriesOf(fitting, { medium, room, titles, hasFacts: total <= MOST_LINKED })
    return { title, entries, more: more(), text: textOf(title, lines) }
  }
  const roomBeside = (title: string): number => limit - textOf(title, titles).length
  // The line of a firing begins with its kind: where each has one, kinds take no room of lines, and none of a phone.
  if (titles.length < total || notifications.every(({ event_type }) => event_type === "resolved")) {
    const title = roomBeside(whole) >= 0 ? whole : short
    return digestWith(title, roomBeside(title))
  }
  const found = digestWith(short, roomBeside(short))
  const hasRoom = form !== "brief" && found.text.length + whole.length - short.length <= limit
  return hasRoom ? digestWith(whole, roomBeside(short)) : found
}

/** Several notifications of one type as one text: how many, then a line for each. */
export const digestText = (notifications: ReadonlyArray<DeliveryAttempt>, medium: TextMedium): string =>
  digestOf(notifications, medium).text

/** The kinds of ends, worst first. */
const ENDS = ["still", "unseen", "recovered"] as const

/** How its incident ended: its check is still not ok, no result is known that says that it is ok, or one is. */
const endOf = ({ incident: { resolution } }: DeliveryAttempt): (typeof ENDS)[number] => {
  if (resolution?.reason === "recovered") return "recovered"
  return resolution?.reason === "reported" || resolution?.reason === "moved" ? "still" : "unseen"
}

const rankOf = (notification: DeliveryAttempt): number =>
  notification.event_type === "firing" ? 0 : ENDS.indexOf(endOf(notification))

/** Severe ones first, and last firings whose incident has resolved; resolutions by the kind of their end. */
export const worstFirst = (notifications: ReadonlyArray<DeliveryAttempt>): ReadonlyArray<DeliveryAttempt> =>
  notifications.toSorted(
    (a, b) =>
      Number(isOver(a)) - Number(isOver(b)) ||
      rankOf(a) - rankOf(b) ||
      SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity],
  )

/** The severities of open incidents, worst first. */
const SEVERITIES = ["critical", "unknown", "warning"] as const

/** How many there are of each kind that there is, behind its name. */
const kindsOf = <Kind extends string>(
  kinds: ReadonlyArray<Kind>,
  found: ReadonlyArray<Kind | undefined>,
  nameOf: (kind: Kind) => string,
  labelled: string,
): ReadonlyArray<string> =>
  kinds.flatMap((kind) => {
    const n = found.filter((one) => one === kind).length
    return n === 0 ? [] : [fill(labelled, { name: nameOf(kind), value: n })]
  })

/** How many there are, how many of each kind, worst first, and how many are over by now: parts of one line. */
export const digestHead = (notifications: ReadonlyArray<DeliveryAttempt>, form?: TextForm) => {
  const total = notifications.length
  const { counted, words } = readerTexts(notifications[0] ?? {}, form)
  const { closed, closed_as, fired, firing, labelled, over_as, resolved, statuses } = words.notification
  if (notifications.every(({ event_type }) => event_type === "resolved")) {
    const isRecovery = !notifications.some((one) => notRecoveredIn(one) !== undefined)
    const kinds = kindsOf(ENDS, notifications.map(endOf), (end) => closed_as[end], labelled)
    return { count: counted(isRecovery ? resolved : closed, total), kinds: isRecovery ? [] : kinds, over: [] }
  }
  const open = notifications.filter((notification) => !isOver(notification))
  const severities = open.map(({ severity }) => severity)
  const kinds = kindsOf(SEVERITIES, severities, (severity) => statuses[severity], labelled)
  const value = total - open.length
  if (value === 0) return { count: counted(firing, total), kinds, over: [] }
  const name = notifications.some((one) => endedIn(one) !== undefined) ? over_as.closed : over_as.resolved
  return { count: counted(fired, total), kinds, over: [fill(labelled, { name, value })] }
}

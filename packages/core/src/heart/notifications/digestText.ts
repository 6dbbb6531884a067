import { SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import { fill } from "@tocsin/contract/languages/Words"
import { cutText, type TextMedium } from "./cutText.ts"
import { isOver, lineTitleOf, withSummary, withWhy } from "./incidentText.ts"
import type { DeliveryAttempt } from "./Notifiers.ts"
import { readerTexts, type TextForm } from "./readerTexts.ts"
import { sharedWhy } from "./whyText.ts"

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
  const { limit, escape, form } = medium
  const why = sharedWhy(notifications)
  const total = notifications.length
  const { counted, words } = readerTexts(notifications[0] ?? {}, form)
  const shown = worstFirst(notifications).slice(0, total > MOST_LINES ? MOST_LINES - 1 : MOST_LINES)
  const titles = shown.map((notification) => escape(lineTitleOf(notification, medium)))
  const textOf = (lines: ReadonlyArray<string>): string =>
    withWhy(
      [
        digestTitle(notifications, form),
        ...lines,
        ...(lines.length < total ? [counted(words.notification.more, total - lines.length)] : []),
      ],
      why,
      medium,
    )
  while (titles.length > 1 && textOf(titles).length > limit) titles.pop()
  const links = linksFor(shown.slice(0, titles.length), limit - textOf(titles).length, medium)
  const ends = links.map((link) => (link === undefined ? "" : ` ${link}`))
  const room = Math.floor((limit - textOf(titles).length - ends.join("").length) / titles.length)
  const lines = shown.slice(0, titles.length).map((notification, index) => {
    const [title = "", summary] = [titles[index], withSummary("", notification, form)]
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

export const digestTitle = (notifications: ReadonlyArray<DeliveryAttempt>, form?: TextForm): string => {
  const total = notifications.length
  const { counted, words } = readerTexts(notifications[0] ?? {}, form)
  const { fired, firing, resolved } = words.notification
  if (notifications.every(({ event_type }) => event_type === "resolved")) return counted(resolved, total)
  const over = notifications.filter(isOver).length
  return over === 0 ? counted(firing, total) : fill(counted(fired, total), { over })
}

import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import type { DeliveryAttempt } from "@tocsin/core/ports/DeliveryAttempt"
import { type TextMedium, titleOf } from "./incidentText.ts"
import { plainLine } from "@tocsin/contract/plainLine"
import { cutText } from "./cutText.ts"

/** Few people read further; the first line has the count. */
const MOST_LINES = 20

/**
 * Several notifications of one type as one text: how many, then a line for each, the most severe
 * first and incidents that have resolved since last. Lines that do not fit are counted.
 */
export const digestText = (
  notifications: ReadonlyArray<DeliveryAttempt>,
  { limit, escape }: TextMedium,
): string => {
  const count = `${notifications.length} incidents ${stateOf(notifications)}`
  const isCut = notifications.length > MOST_LINES
  const shown = notifications
    .toSorted(
      (a, b) =>
        Number(isOver(a)) - Number(isOver(b)) || SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity],
    )
    .slice(0, isCut ? MOST_LINES - 1 : MOST_LINES)
  const more = isCut ? [`… and ${notifications.length - shown.length} more`] : []
  const others = [count, ...more]
  const room = Math.floor((limit - others.join("\n").length) / shown.length) - 1
  const lines = shown.map((notification) => cutText(lineOf(notification), { limit: room, escape }))
  return [count, ...lines, ...more].join("\n")
}

/** A firing can wait until its incident has resolved. */
const isOver = ({ event_type, incident }: DeliveryAttempt): boolean =>
  event_type === "firing" && incident.resolved_at !== undefined

const stateOf = (notifications: ReadonlyArray<DeliveryAttempt>): string => {
  if (notifications.every(({ event_type }) => event_type === "resolved")) return "are resolved"
  const over = notifications.filter(isOver).length
  return over === 0 ? "are firing" : `fired, ${over} of them resolved by now`
}

const lineOf = (notification: DeliveryAttempt): string => {
  const title = `${titleOf(notification)}${isOver(notification) ? " (resolved by now)" : ""}`
  const summary = plainLine(notification.summary ?? "")
  return summary === "" ? title : `${title}: ${summary}`
}

import { SEVERITY_RANK } from "@tocsin/core/incidents/MemberRecord"
import type { DeliveryAttempt } from "@tocsin/core/notifications/DeliveryAttempt"
import { type TextMedium, titleOf } from "./incidentText.ts"
import { cutText, plainLine } from "./plainLine.ts"

/** Few people read further; the first line has the count. */
const MOST_LINES = 20

/**
 * Several notifications of one type as one text: how many, then a line for each, the most severe
 * first. Lines that do not fit are counted.
 */
export const digestText = (
  notifications: ReadonlyArray<DeliveryAttempt>,
  { limit, escape }: TextMedium,
): string => {
  const isFiring = notifications.some(({ event_type }) => event_type === "firing")
  const count = `${notifications.length} incidents ${isFiring ? "are firing" : "are resolved"}`
  const isCut = notifications.length > MOST_LINES
  const shown = notifications
    .toSorted((a, b) => SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity])
    .slice(0, isCut ? MOST_LINES - 1 : MOST_LINES)
  const more = isCut ? [`… and ${notifications.length - shown.length} more`] : []
  const others = [count, ...more]
  const room = Math.floor((limit - others.join("\n").length) / shown.length) - 1
  const lines = shown.map((notification) => cutText(lineOf(notification), { limit: room, escape }))
  return [count, ...lines, ...more].join("\n")
}

const lineOf = (notification: DeliveryAttempt): string => {
  const summary = plainLine(notification.summary ?? "")
  return summary === "" ? titleOf(notification) : `${titleOf(notification)}: ${summary}`
}

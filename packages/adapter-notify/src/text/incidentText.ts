import * as Instant from "@tocsin/core/contract/Instant"
import { HEARTBEAT } from "@tocsin/core/liveness/heartbeatIncident"
import type { Notification } from "@tocsin/core/notifications/Notification"
import { checkIdOf } from "./checkIdOf.ts"
import { cutText } from "./cutText.ts"
import { plainLine } from "./plainLine.ts"
import { spanText } from "./spanText.ts"

/** The incident of a notification. */
export type NotifiedIncident = Notification["incident"]

/** How a text is fitted to its medium. */
export interface TextMedium {
  /** At most so many UTF-16 units, escapes included. */
  readonly limit: number
  readonly escape: (text: string) => string
}

/** Where it is: the agent and check, or the key where there are several. */
export const whereText = ({ agent_id, check_id, incident_key }: NotifiedIncident): string => {
  const check = checkIdOf(check_id)
  if (agent_id === undefined) return plainLine(incident_key)
  return check === undefined ? agent_id : `${agent_id}/${check}`
}

/** The key where it says more than the place does. */
const keyOf = (incident: NotifiedIncident): string | undefined => {
  const isOfAgent = incident.incident_key === `${incident.agent_id}/${HEARTBEAT}`
  const key = plainLine(incident.incident_key)
  return isOfAgent || key === whereText(incident) ? undefined : key
}

/** An instant to the second, for people: `2026-01-31 08:30:00 UTC`. */
const momentText = (instant: Instant.Instant): string =>
  `${Instant.format(instant).slice(0, 19).replace("T", " ")} UTC`

const titleOf = ({ event_type, severity, incident }: Notification): string =>
  event_type === "firing"
    ? `${severity.toUpperCase()}: ${whereText(incident)}`
    : `RESOLVED: ${whereText(incident)} (was ${severity})`

const timeOf = ({ event_type, incident: { opened_at, resolved_at } }: Notification): string => {
  if (resolved_at === undefined) return `Since ${momentText(opened_at)}`
  const span = `From ${momentText(opened_at)} to ${momentText(resolved_at)} (${spanText(opened_at, resolved_at)})`
  return event_type === "firing" ? `${span}: resolved by now` : span
}

const factsOf = (notification: Notification): ReadonlyArray<string> => {
  const { event_type, incident } = notification
  const key = keyOf(incident)
  return [
    timeOf(notification),
    ...(event_type === "firing" && incident.members > 1 ? [`${incident.members} checks are not ok`] : []),
    ...(key === undefined ? [] : [`Key: ${key}`]),
    `Incident: ${incident.id}`,
  ]
}

/**
 * What a person woken at night needs: how bad and where, what the check said, since when, and the id to look it up by. Where
 * the whole is too long, what the check said is cut.
 */
export const incidentText = (notification: Notification, { limit, escape }: TextMedium): string => {
  const title = escape(titleOf(notification))
  const facts = escape(factsOf(notification).join("\n"))
  const room = limit - title.length - facts.length - 2
  const summary = cutText(plainLine(notification.summary ?? ""), { limit: room, escape })
  return [title, ...(summary === "" ? [] : [summary]), facts].join("\n")
}

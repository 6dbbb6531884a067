import type { CheckId } from "@tocsin/core/contract/Identifiers"
import * as Instant from "@tocsin/core/contract/Instant"
import type { DeliveryAttempt } from "@tocsin/core/notifications/DeliveryAttempt"
import { checkIdOf } from "./checkIdOf.ts"
import { cutText } from "./cutText.ts"
import { plainLine } from "./plainLine.ts"
import { spanText } from "./spanText.ts"

/** The incident of a notification. */
export type NotifiedIncident = DeliveryAttempt["incident"]

/** How a text is fitted to its medium. */
export interface TextMedium {
  /** At most so many UTF-16 units, escapes included. */
  readonly limit: number
  readonly escape: (text: string) => string
}

const placeOf = (agent: string, check: CheckId): string => {
  const shown = checkIdOf(check)
  return shown === undefined ? agent : `${agent}/${shown}`
}

/** Keys that nobody chose: the check's own, as text or, where that is too long, as its hash. */
const isAutomatic = ({ incident_key, opener_agent_id, opener_check_id }: NotifiedIncident): boolean =>
  incident_key === `${opener_agent_id}/${opener_check_id}` || /^sha256:[0-9a-f]{64}$/.test(incident_key)

/** What the incident is called for its whole life: the check that opened it, or the key that checks share. */
export const whereText = (incident: NotifiedIncident): string =>
  isAutomatic(incident)
    ? placeOf(incident.opener_agent_id, incident.opener_check_id)
    : plainLine(incident.incident_key)

/** The only check of a shared key. */
const checkOf = (incident: NotifiedIncident): string | undefined => {
  const { agent_id, check_id } = incident
  return isAutomatic(incident) || agent_id === undefined || check_id === undefined
    ? undefined
    : placeOf(agent_id, check_id)
}

/** An instant to the second, for people: `2026-01-31 08:30:00 UTC`. */
const momentText = (instant: Instant.Instant): string =>
  `${Instant.format(instant).slice(0, 19).replace("T", " ")} UTC`

const titleOf = ({ event_type, severity, incident }: DeliveryAttempt): string =>
  event_type === "firing"
    ? `${severity.toUpperCase()}: ${whereText(incident)}`
    : `RESOLVED: ${whereText(incident)} (was ${severity})`

const timeOf = ({ event_type, incident: { opened_at, resolved_at } }: DeliveryAttempt): string => {
  if (resolved_at === undefined) return `Since ${momentText(opened_at)}`
  const span = `From ${momentText(opened_at)} to ${momentText(resolved_at)} (${spanText(opened_at, resolved_at)})`
  return event_type === "firing" ? `${span}: resolved by now` : span
}

const factsOf = (notification: DeliveryAttempt): ReadonlyArray<string> => {
  const { event_type, incident } = notification
  const check = checkOf(incident)
  return [
    timeOf(notification),
    ...(event_type === "firing" && incident.members > 1 ? [`${incident.members} checks are not ok`] : []),
    ...(check === undefined ? [] : [`Check: ${check}`]),
    `Incident: ${incident.id}`,
  ]
}

/**
 * What a person woken at night needs: how bad and where, what the check said, since when, and the id to look it up by. Where
 * the whole is too long, what the check said is cut.
 */
export const incidentText = (notification: DeliveryAttempt, { limit, escape }: TextMedium): string => {
  const title = escape(titleOf(notification))
  const facts = escape(factsOf(notification).join("\n"))
  const room = limit - title.length - facts.length - 2
  const summary = cutText(plainLine(notification.summary ?? ""), { limit: room, escape })
  return [title, ...(summary === "" ? [] : [summary]), facts].join("\n")
}

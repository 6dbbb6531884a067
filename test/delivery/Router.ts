import * as Instant from "@tocsin/contract/formats/Instant"
import type { Severity } from "@tocsin/contract/formats/Status"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration } from "effect"
import type { Receivers } from "../service/Receivers.ts"
import type { Service } from "../service/Service.ts"

const FIRING_SPAN = Duration.minutes(4)

/** The labels by which an alert router identifies an alert. */
const labels = (
  incident: Pick<DeliveryAttempt["incident"], "incident_key" | "opener_agent_id" | "opener_check_id">,
  severity: Severity,
) => `${incident.incident_key} of ${incident.opener_agent_id}/${incident.opener_check_id} is ${severity}`

/**
 * The alerts that fire at a router at `now`. The last message of each label set counts; a firing
 * lasts four minutes.
 */
export const firingAtRouter = (
  { arrivals, repeats }: Receivers,
  now: Instant.Instant,
): ReadonlyArray<string> => {
  const messages = [
    ...arrivals.map(({ notification: { incident, severity, event_type }, at, order }) => ({
      alert: labels(incident, severity),
      at,
      order,
      isFiring: event_type === "firing",
    })),
    ...repeats
      .filter(({ answer }) => answer.reaches)
      .flatMap(({ alerts, at, order }) =>
        alerts.map(({ alert, incident }) => ({
          alert: labels(incident, alert.severity),
          at,
          order,
          isFiring: alert.ended_at === undefined,
        })),
      ),
  ]
  const last = new Map<string, (typeof messages)[0]>()
  for (const message of messages.toSorted((a, b) => a.order - b.order)) last.set(message.alert, message)
  return Array.from(last.values())
    .filter(({ isFiring, at }) => isFiring && now < Instant.plus(at, FIRING_SPAN))
    .map(({ alert }) => alert)
    .toSorted()
}

/**
 * The alerts that should fire: those of open incidents that the router was notified of, at their
 * present severity.
 */
export const expectedAtRouter = ({ rows, receivers }: Service): ReadonlyArray<string> => {
  const notified = new Set(
    receivers.arrivals.flatMap(({ notification: { event_type, incident } }) =>
      event_type === "firing" ? [incident.id] : [],
    ),
  )
  return Array.from(rows().incidents.values())
    .filter((incident) => incident.state === "open" && notified.has(incident.id))
    .map((incident) => labels(incident, incident.severity))
    .toSorted()
}

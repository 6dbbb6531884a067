import * as Instant from "@tocsin/core/contract/Instant"
import type { Severity } from "@tocsin/core/contract/Status"
import type { DeliveryAttempt } from "@tocsin/core/notifications/DeliveryAttempt"
import { Duration } from "effect"
import type { Receivers } from "./Receivers.ts"
import type { Site } from "./Site.ts"

const FIRING_SPAN = Duration.minutes(4)

/** What an alert router tells alerts apart by. */
const labels = (
  incident: Pick<DeliveryAttempt["incident"], "incident_key" | "opener_agent_id" | "opener_check_id">,
  severity: Severity,
) => `${incident.incident_key} of ${incident.opener_agent_id}/${incident.opener_check_id} is ${severity}`

/** Which alerts a router has firing at `now`: of each label set the last message counts, a firing for four minutes. */
export const firingAtRouter = (
  { arrivals, resendings }: Receivers,
  now: Instant.Instant,
): ReadonlyArray<string> => {
  const messages = [
    ...arrivals.map(({ notification: { incident, severity, event_type }, at, order }) => ({
      alert: labels(incident, severity),
      at,
      order,
      isFiring: event_type === "firing",
    })),
    ...resendings
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

/** Which alerts a router should have firing: those of open incidents that it was told of, at their present severity. */
export const firingByRights = ({ watch, receivers }: Site): ReadonlyArray<string> => {
  const told = new Set(
    receivers.arrivals.flatMap(({ notification: { event_type, incident } }) =>
      event_type === "firing" ? [incident.id] : [],
    ),
  )
  return Array.from(watch.incidents.values())
    .filter((incident) => incident.state === "open" && told.has(incident.id))
    .map((incident) => labels(incident, incident.severity))
    .toSorted()
}

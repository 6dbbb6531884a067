import { Duration } from "effect"
import { type Acknowledgement, acknowledgementOf } from "../model/Acknowledgement.ts"
import * as Instant from "@tocsin/contract/Instant"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { SEVERITY_RANK } from "../model/MemberRecord.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { canBeHeld } from "./heldItems.ts"
import { endAfterGrace, type OutageGrace } from "./outageGrace.ts"
import { type Hold, type HoldFacts, computeHolds } from "./computeHolds.ts"

/** What decides on the holds of an incident's firings, besides the incident and its acknowledgement. */
export interface HoldContext extends Pick<HoldFacts, "covering"> {
  /** How long the incident must have been open before anyone is notified. */
  readonly after: Duration.Duration
  /** The outage that agents may still have to report from. */
  readonly grace: OutageGrace | undefined
}

/** The holds on an outbox item at a moment; none on one that cannot be held. */
export const firingHolds = (
  incident: IncidentRecord,
  item: OutboxRecord,
  context: HoldContext,
  now: Instant.Instant,
): ReadonlyArray<Hold> => (canBeHeld(item) ? computeHolds(factsOf(incident, item, context, now), now) : [])

/** The holds on a firing that an incident would get now, for a receiver that knows nothing of it. */
export const incidentHolds = (
  incident: IncidentRecord,
  context: HoldContext,
  now: Instant.Instant,
): ReadonlyArray<Hold> =>
  incident.state === "open"
    ? computeHolds(factsOf(incident, { cause: "opened", severity: incident.severity }, context, now), now)
    : []

const factsOf = (
  incident: IncidentRecord,
  { cause, severity }: Pick<OutboxRecord, "cause" | "severity">,
  { after, covering, grace }: HoldContext,
  now: Instant.Instant,
): HoldFacts => ({
  // An incident that has improved is acknowledged at what it shows now.
  severity: SEVERITY_RANK[severity] < SEVERITY_RANK[incident.severity] ? severity : incident.severity,
  // Escalations and reminders have times of their own. Without `after`, no hold ended in an outage, though
  // the incident may have opened before the service heartbeat showed that the outage was over.
  opensAt:
    cause === "escalation" || cause === "reminder" || Duration.isZero(after)
      ? incident.opened_at
      : endAfterGrace(Instant.plus(incident.opened_at, after), grace),
  acknowledgement: acknowledgementAfterGrace(incident, grace, now),
  covering,
})

/** The acknowledgement that holds at a moment: also one that ran out during an outage, for a while. */
const acknowledgementAfterGrace = (
  incident: IncidentRecord,
  grace: OutageGrace | undefined,
  now: Instant.Instant,
): Acknowledgement | undefined => {
  const acknowledgement = acknowledgementOf(incident)
  if (acknowledgement === undefined) return undefined
  const until = endAfterGrace(acknowledgement.until, grace)
  return now < until ? { ...acknowledgement, until } : undefined
}

import { Duration } from "effect"
import type { Signature } from "../audit/Signature.ts"
import type { OutboxId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { NotifierName, Severity } from "@tocsin/contract/Status"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import { type Acknowledgement, acknowledgementInForce } from "../model/Acknowledgement.ts"
import { SEVERITY_RANK } from "../model/MemberRecord.ts"
import { isUnended, type OutboxRecord, wasAttempted } from "../model/OutboxRecord.ts"
import { toNotification } from "../notifications/claimOutbox.ts"
import type { DeliveryAttempt } from "../ports/Notifiers.ts"
import { putAcknowledgement } from "./acknowledge.ts"

/** A link that someone follows. */
interface FollowInput {
  readonly id: OutboxId
  /** Whether to acknowledge; otherwise nothing changes. */
  readonly isPressed: boolean
  /** How long links to this receiver acknowledge; nothing if they do not, or no more. */
  readonly lengthOf: (receiver: NotifierName) => Duration.Duration | undefined
}

/** Why a link has ended: its incident resolved, its receiver has no such links any more, or its message is too old. */
export type EndOfLink = "resolved" | "removed" | "old"

/** The state of a link. */
export type FollowedLink =
  | { readonly outcome: "ended"; readonly reason: EndOfLink }
  | {
      /** `worse`: the incident is worse than the message stated, so the link acknowledges nothing. */
      readonly outcome: "open" | "acknowledged" | "worse"
      /** The notification as it was sent, with the incident as it is now. */
      readonly notification: DeliveryAttempt
      readonly acknowledgement: Acknowledgement | undefined
      /** The incident's present severity. */
      readonly severity: Severity
      readonly for: Duration.Duration
    }

/** How long a link works once its message was sent. */
const WORKS_FOR = Duration.days(7)

const hasEnded = (item: OutboxRecord, now: Instant.Instant): boolean =>
  item.event_type !== "firing" ||
  !wasAttempted(item) ||
  item.state === "discarded" ||
  (!isUnended(item) && now >= Instant.plus(item.updated_at, WORKS_FOR))

/**
 * Follows the link in a message (docs/rules.md#links): shows it, or acknowledges its incident at the severity
 * that the message stated, unless an acknowledgement at that severity is in force.
 */
export const followLink = commandOf(function* (
  unit,
  now,
  { id, isPressed, lengthOf }: FollowInput,
  by: Omit<Signature, "actor">,
): Decision<FollowedLink> {
  yield* load(unit, { rows: { outbox: [id] } })
  const found = unit.outbox.get(id)
  const length = found && lengthOf(found.receiver)
  // Retention removes a row once its incident has resolved.
  if (found === undefined) return { outcome: "ended", reason: "resolved" }
  if (length === undefined) return { outcome: "ended", reason: "removed" }
  yield* load(unit, { incidents: [found.incident_id] })
  const incident = unit.incidents.get(found.incident_id)
  const item = unit.outbox.get(id) ?? found
  if (incident?.state !== "open") return { outcome: "ended", reason: "resolved" }
  if (hasEnded(item, now)) return { outcome: "ended", reason: "old" }
  const inForce = acknowledgementInForce(incident, now)
  const { receiver, severity } = item
  const notification = toNotification(item, incident, { due_at: now, now })
  const view = { notification, severity: incident.severity, for: length }
  if (SEVERITY_RANK[incident.severity] > SEVERITY_RANK[severity])
    return { ...view, outcome: "worse", acknowledgement: inForce }
  if (inForce !== undefined && SEVERITY_RANK[inForce.severity] >= SEVERITY_RANK[severity])
    return { ...view, outcome: "acknowledged", acknowledgement: inForce }
  if (!isPressed) return { ...view, outcome: "open", acknowledgement: inForce }
  const actor = `link:${receiver}`
  const until = Instant.plus(now, length)
  const acknowledgement = { by: actor, note: undefined, at: now, until, severity }
  putAcknowledgement(unit, incident, acknowledgement, { ...by, actor })
  return { ...view, outcome: "acknowledged", acknowledgement }
})

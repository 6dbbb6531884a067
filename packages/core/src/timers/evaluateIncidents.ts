import { Duration } from "effect"
import { NOT_ACKNOWLEDGED } from "../model/Acknowledgement.ts"
import { AcknowledgementTransitions } from "../model/AcknowledgementTransitions.ts"
import { recordAudit } from "../audit/recordAudit.ts"
import { type Signature, systemSignature } from "../audit/Signature.ts"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import { examineIncident } from "../holds/examineHeld.ts"
import { gatherHolds, type Holds } from "../holds/gatherHolds.ts"
import { holdableOf } from "../holds/heldItems.ts"
import { recordLogEntry } from "../incidents/recordLogEntry.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { enqueueFiring, type EnqueueOptions, firingsOf } from "../notifications/enqueue.ts"
import { type TimedFiring, decideTimers } from "./decideTimers.ts"

/**
 * Looks at the incidents whose timers are due, at most `limit` of them, and returns how many it
 * found. Another replica may have been first: each is looked at again once it is locked.
 */
export const evaluateDueIncidents = commandOf(function* (
  unit,
  now,
  options: IncidentOptions,
  limit: number,
): Decision<number> {
  yield { dueIncidents: { limit } }
  const { dueIncidents } = unit.searchResults
  const isDue = ({ next_evaluation_at }: IncidentRecord) =>
    next_evaluation_at !== undefined && next_evaluation_at <= now
  yield* lookAt(unit, dueIncidents, isDue, options, now)
  return dueIncidents.length
})

/** Looks at these incidents whether they are due or not, because the policy has changed. */
export const evaluateIncidents = commandOf(function* (
  unit,
  now,
  options: IncidentOptions,
  ids: ReadonlyArray<IncidentId>,
): Decision<void> {
  yield* lookAt(unit, ids, () => true, options, now)
})

interface LookOptions extends EnqueueOptions {
  readonly by: Signature
}

const lookOptions = (
  { newAuditId, newOutboxId, policy }: IncidentOptions,
  now: Instant.Instant,
): LookOptions => ({ policy: policy(), newOutboxId, now, by: systemSignature(newAuditId) })

function* lookAt(
  unit: UnitOfWork,
  ids: ReadonlyArray<IncidentId>,
  isWanted: (incident: IncidentRecord) => boolean,
  options: IncidentOptions,
  now: Instant.Instant,
): Decision<void> {
  if (ids.length === 0) return
  yield* load(unit, { incidents: ids })
  const incidents = ids
    .flatMap((id) => unit.incidents.get(id) ?? [])
    .filter((incident) => incident.state === "open" && isWanted(incident))
  if (incidents.length === 0) return
  // Read after the incidents are locked, which guard their members.
  const holds = yield* gatherHolds(unit, incidents, { ...options, isRouted: true }, now)
  const looking = lookOptions(options, now)
  for (const incident of incidents) look(unit, incident, holds, looking)
}

/** Does what is due, and sets the time of the next look. */
const look = (unit: UnitOfWork, before: IncidentRecord, holds: Holds, options: LookOptions): void => {
  const { now } = options
  const acknowledgedUntil = holds.acknowledgedUntil(before)
  const hasAckRunOut = acknowledgedUntil !== undefined && acknowledgedUntil <= now
  const { firings, nextEvaluationAt } = decideTimers(
    {
      opened_at: before.opened_at,
      firings: firingsOf(unit, before),
      routing: holds.routing(before),
      hasAckRunOut,
      heldUntil: heldUntil(before, holds, options),
    },
    now,
  )
  const incident = {
    ...(hasAckRunOut ? endAcknowledgement(unit, before, options) : before),
    next_evaluation_at: nextEvaluationAt,
  }
  if (hasAckRunOut || before.next_evaluation_at !== nextEvaluationAt) unit.incidents.put(incident)
  for (const firing of firings) fire(unit, incident, firing, options)
  if (hasAckRunOut) examineIncident(unit, incident, holds, now)
}

/** An incident's labels, or a silence, may change unnoticed: its cover is looked at again by then. */
const COVERED_LOOK = Duration.minutes(5)

/** Until when nobody is notified by time, because the incident is acknowledged or covered. */
const heldUntil = (
  incident: IncidentRecord,
  holds: Holds,
  { now, policy }: EnqueueOptions,
): Instant.Instant | undefined => {
  const [mute] = policy.hasTimers ? holds.covering(incident) : []
  const ends = [
    holds.acknowledgedUntil(incident),
    mute && Instant.min(mute.until, Instant.plus(now, COVERED_LOOK)),
  ].flatMap((end) => (end !== undefined && now < end ? [end] : []))
  return Instant.earliest(ends)
}

const endAcknowledgement = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  { by, now }: LookOptions,
): IncidentRecord => {
  move(AcknowledgementTransitions, "acknowledged", "ran_out")
  const unacknowledged = { ...incident, ...NOT_ACKNOWLEDGED }
  const { seq } = recordLogEntry(unit, unacknowledged, { action: "ran_out", actor: by.actor }, now)
  recordAudit(unit, now, by, "incident.acknowledgement_expired", [incident.id], {})
  return { ...unacknowledged, log_entries: seq }
}

/** A firing that already waits for the receiver states the present cause instead of a second one. */
const fire = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  { cause, receiver }: TimedFiring,
  options: EnqueueOptions,
): void => {
  const waiting = holdableOf(unit.outbox.group(incident.id), receiver)
  if (waiting.length === 0) enqueueFiring(unit, incident, { receiver, cause }, options)
  for (const item of waiting) unit.outbox.put({ ...item, cause })
}

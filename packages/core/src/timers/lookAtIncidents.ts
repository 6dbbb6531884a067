import { Duration } from "effect"
import { NOT_ACKNOWLEDGED } from "../model/Acknowledgement.ts"
import { AcknowledgementTransitions } from "../model/AcknowledgementTransitions.ts"
import { recordAudit } from "../audit/recordAudit.ts"
import { type Signature, systemSignature } from "../audit/Signature.ts"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import { examineIncident } from "../holds/examineHeld.ts"
import { gatherHolds, type Holds } from "../holds/gatherHolds.ts"
import { holdableOf } from "../holds/heldItems.ts"
import { recordAct } from "../incidents/recordAct.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { enqueueFiring, type EnqueueOptions, firingsOf } from "../notifications/enqueue.ts"
import { type TimedFiring, timersOf } from "./timersOf.ts"

/**
 * Looks at the incidents whose timers are due, at most `limit` of them, and returns how many it
 * found. Another replica may have been first: each is looked at again once it is locked.
 */
export const lookAtDueIncidents = commandOf(function* (
  workspace,
  now,
  options: IncidentOptions,
  limit: number,
): Decision<number> {
  yield { dueIncidents: { limit } }
  const { dueIncidents } = workspace.found
  const isDue = ({ next_look_at }: IncidentRecord) => next_look_at !== undefined && next_look_at <= now
  yield* lookAt(workspace, dueIncidents, isDue, options, now)
  return dueIncidents.length
})

/** Looks at these incidents whether they are due or not, because the policy has changed. */
export const lookAtIncidents = commandOf(function* (
  workspace,
  now,
  options: IncidentOptions,
  ids: ReadonlyArray<IncidentId>,
): Decision<void> {
  yield* lookAt(workspace, ids, () => true, options, now)
})

interface LookOptions extends EnqueueOptions {
  readonly by: Signature
}

const lookOptions = (
  { newAuditId, newOutboxId, policy }: IncidentOptions,
  now: Instant.Instant,
): LookOptions => ({ policy: policy(), newOutboxId, now, by: systemSignature(newAuditId) })

function* lookAt(
  workspace: Workspace,
  ids: ReadonlyArray<IncidentId>,
  isWanted: (incident: IncidentRecord) => boolean,
  options: IncidentOptions,
  now: Instant.Instant,
): Decision<void> {
  if (ids.length === 0) return
  yield* ensure(workspace, { incidents: ids })
  const incidents = ids
    .flatMap((id) => workspace.incidents.get(id) ?? [])
    .filter((incident) => incident.state === "open" && isWanted(incident))
  if (incidents.length === 0) return
  // Read after the incidents are locked, which guard their members.
  const holds = yield* gatherHolds(workspace, incidents, { ...options, isRouted: true }, now)
  const looking = lookOptions(options, now)
  for (const incident of incidents) look(workspace, incident, holds, looking)
}

/** Does what is due, and sets the time of the next look. */
const look = (workspace: Workspace, before: IncidentRecord, holds: Holds, options: LookOptions): void => {
  const { now } = options
  const acknowledgedUntil = holds.acknowledgedUntil(before)
  const hasAckRunOut = acknowledgedUntil !== undefined && acknowledgedUntil <= now
  const { firings, nextLookAt } = timersOf(
    {
      opened_at: before.opened_at,
      firings: firingsOf(workspace, before),
      routing: holds.routing(before),
      hasAckRunOut,
      withheldUntil: withheldUntil(before, holds, options),
    },
    now,
  )
  const incident = {
    ...(hasAckRunOut ? endAcknowledgement(workspace, before, options) : before),
    next_look_at: nextLookAt,
  }
  if (hasAckRunOut || before.next_look_at !== nextLookAt) workspace.incidents.put(incident)
  for (const firing of firings) fire(workspace, incident, firing, options)
  if (hasAckRunOut) examineIncident(workspace, incident, holds, now)
}

/** An incident's labels, or a silence, may change unnoticed: its cover is looked at again by then. */
const COVERED_LOOK = Duration.minutes(5)

/** Until when nobody is notified by time, because the incident is acknowledged or covered. */
const withheldUntil = (
  incident: IncidentRecord,
  holds: Holds,
  { now, policy }: EnqueueOptions,
): Instant.Instant | undefined => {
  const [cover] = policy.hasTimers ? holds.covering(incident) : []
  const ends = [
    holds.acknowledgedUntil(incident),
    cover && Instant.min(cover.until, Instant.plus(now, COVERED_LOOK)),
  ].flatMap((end) => (end !== undefined && now < end ? [end] : []))
  return Instant.earliest(ends)
}

const endAcknowledgement = (
  workspace: Workspace,
  incident: IncidentRecord,
  { by, now }: LookOptions,
): IncidentRecord => {
  move(AcknowledgementTransitions, "acknowledged", "ran_out")
  const unacknowledged = { ...incident, ...NOT_ACKNOWLEDGED }
  const { seq } = recordAct(workspace, unacknowledged, { act: "ran_out", actor: by.actor }, now)
  recordAudit(workspace, now, by, "incident.acknowledgement_expired", [incident.id], {})
  return { ...unacknowledged, acts: seq }
}

/** A firing that already waits for the receiver states the present cause instead of a second one. */
const fire = (
  workspace: Workspace,
  incident: IncidentRecord,
  { cause, receiver }: TimedFiring,
  options: EnqueueOptions,
): void => {
  const waiting = holdableOf(workspace.outbox.group(incident.id), receiver)
  if (waiting.length === 0) enqueueFiring(workspace, incident, { receiver, cause }, options)
  for (const item of waiting) workspace.outbox.put({ ...item, cause })
}

import * as Instant from "@tocsin/contract/Instant"
import { acknowledgementInForce } from "../model/Acknowledgement.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { isBelow } from "../model/MemberRecord.ts"
import {
  type HoldName,
  inOrder,
  isHeld,
  type OutboxRecord,
  OutboxTransitions,
  wasAttempted,
} from "../model/OutboxRecord.ts"
import { move } from "@tocsin/contract/TransitionTable"
import type { WithIncident } from "../unitOfWork/Search.ts"
import type { UnitOfWork } from "../unitOfWork/UnitOfWork.ts"

/** Why a firing waits, and until when. */
export interface Hold {
  readonly by: HoldName
  readonly until: Instant.Instant
  /** When it may have ended earlier, unnoticed. */
  readonly lookAgainAt?: Instant.Instant | undefined
}

/** The end of a hold that only a change of the incident, or of the policy, ends. */
export const UNTIL_A_CHANGE = Instant.LATEST

/** A firing waits until the last of its holds has ended; there is at least one. */
export const lastEnd = (holds: ReadonlyArray<Hold>): Instant.Instant =>
  holds.map(({ until }) => until).reduce(Instant.max)

/** When a firing under these holds is evaluated. */
export const evaluatedAt = (holds: ReadonlyArray<Hold>): Instant.Instant =>
  holds.flatMap(({ lookAgainAt }) => lookAgainAt ?? []).reduce(Instant.min, lastEnd(holds))

/**
 * The holds on every firing of an incident: an acknowledgement that is in force and was given for what is
 * announced; and an opening in the future, until the repair of a clock that was set back.
 */
export const incidentHolds = (incident: IncidentRecord, now: Instant.Instant): ReadonlyArray<Hold> => {
  const acknowledgement = acknowledgementInForce(incident, now)
  const { opened_at, severity, announced = severity } = incident
  const opening = now < opened_at ? [{ by: "clock", until: opened_at } as const] : []
  return acknowledgement === undefined || isBelow(acknowledgement.severity, announced)
    ? opening
    : [...opening, { by: "ack", until: acknowledgement.until }]
}

/** Whether holds apply: to a firing that was never attempted, and not released by hand. */
export const canBeHeld = (item: OutboxRecord): boolean =>
  item.event_type === "firing" &&
  item.state === "pending" &&
  item.released_at === undefined &&
  !wasAttempted(item)

/**
 * The firings for one receiver that wait under holds, in their order: where one was found to be held,
 * those behind it wait too, and those before it belong to their events. They become due as one.
 */
export const waitingUnderHolds = (
  items: ReadonlyArray<OutboxRecord>,
  receiver: OutboxRecord["receiver"],
): ReadonlyArray<OutboxRecord> => {
  const waiting = items.filter((item) => item.receiver === receiver && canBeHeld(item)).toSorted(inOrder)
  const first = waiting.findIndex(isHeld)
  return first === -1 ? [] : waiting.slice(first)
}

/** A firing under these holds: not due, and evaluated again when the last of them ends, or may have. */
export const heldItem = (
  item: OutboxRecord,
  holds: ReadonlyArray<Hold>,
  now: Instant.Instant,
): OutboxRecord => ({
  ...item,
  state: move(OutboxTransitions, "pending", "held"),
  next_attempt_at: undefined,
  held_by: holds.map(({ by }) => by),
  next_evaluation_at: evaluatedAt(holds),
  updated_at: isHeld(item) ? item.updated_at : now,
})

/**
 * A firing that a claim finds to be held. A claim does not see the firings behind it: if there may be
 * any, its incident is evaluated soon.
 */
export const heldAtClaim = (
  { incident, row }: WithIncident<OutboxRecord>,
  holds: ReadonlyArray<Hold>,
  now: Instant.Instant,
): OutboxRecord => {
  const item = heldItem(row, hasWaited(row) ? [...holds, { by: "outage", until: now }] : holds, now)
  return incident.member_changes > row.incident_seq ? { ...item, next_evaluation_at: now } : item
}

/** Whether a firing waited after an outage, which it does once: `outage` stays among its holds, also when it is free. */
export const hasWaited = ({ held_by }: Pick<OutboxRecord, "held_by">): boolean =>
  held_by?.includes("outage") === true

/** A firing that nothing holds any more: due, with what its incident shows now. */
export const freed = (
  item: OutboxRecord,
  { severity, summary }: IncidentRecord,
  trigger: "hold_ended" | "released",
  now: Instant.Instant,
): OutboxRecord => ({
  ...item,
  state: move(OutboxTransitions, "pending", trigger),
  severity,
  summary,
  next_attempt_at: now,
  is_backfill: item.is_backfill && trigger !== "released",
  held_by: hasWaited(item) ? ["outage"] : undefined,
  next_evaluation_at: undefined,
  parent_ended_at: undefined,
  age_starts_at: now,
  updated_at: now,
})

/** Whether a firing of an incident was found to be held. */
export const hasHeld = (unit: UnitOfWork, { id }: Pick<IncidentRecord, "id">): boolean =>
  unit.outbox.group(id).some(isHeld)

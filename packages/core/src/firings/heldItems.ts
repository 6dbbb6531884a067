import type * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import type { WithIncident } from "../engine/unitOfWork/RowRequest.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import {
  endedItem,
  isHeld,
  type OutboxRecord,
  OutboxTransitions,
  wasAttempted,
} from "../model/OutboxRecord.ts"
import { evaluatedAt, type Hold } from "./Hold.ts"

/** Whether holds apply: to a firing that was never attempted, and not released by hand. */
export const canBeHeld = (item: OutboxRecord): boolean =>
  item.event_type === "firing" &&
  item.state === "pending" &&
  item.released_at === undefined &&
  !wasAttempted(item)

/**
 * The firings for one receiver that wait under holds, in their order: where one was found to be held,
 * those behind it wait too. They become due as one.
 */
export const waitingUnderHolds = (
  items: ReadonlyArray<OutboxRecord>,
  receiver: OutboxRecord["receiver"],
): ReadonlyArray<OutboxRecord> => {
  const waiting = items.filter((item) => item.receiver === receiver && canBeHeld(item))
  return waiting.some(isHeld) ? waiting.toSorted((a, b) => a.incident_seq - b.incident_seq) : []
}

/** A firing under these holds: not due, and evaluated again when the last of them ends, or may have. */
export const heldItem = (
  item: OutboxRecord,
  holds: ReadonlyArray<Hold>,
  now: Instant.Instant,
): OutboxRecord => ({
  ...item,
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
  const item = heldItem(row, holds, now)
  return incident.member_changes > row.incident_seq ? { ...item, next_evaluation_at: now } : item
}

/** A held firing whose place another one takes. */
export const coalesced = (item: OutboxRecord, now: Instant.Instant): OutboxRecord =>
  endedItem(item, move(OutboxTransitions, "pending", "coalesced"), now)

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
  held_by: undefined,
  next_evaluation_at: undefined,
  parent_ended_at: undefined,
  age_starts_at: now,
  updated_at: now,
})

/** Whether a firing of an incident was found to be held. */
export const hasHeld = (unit: UnitOfWork, { id }: Pick<IncidentRecord, "id">): boolean =>
  unit.outbox.group(id).some(isHeld)

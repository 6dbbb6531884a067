import type { IncidentId } from "@tocsin/contract/Identifiers"
import type * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import type { WithIncident } from "../engine/unitOfWork/SearchResults.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import { endedItem, type OutboxRecord, wasAttempted } from "../model/OutboxRecord.ts"
import { OutboxTransitions } from "../model/OutboxTransitions.ts"
import { type Hold, lastEnd } from "./computeHolds.ts"

/** Whether holds apply: to a firing that was never attempted, and not released by hand. */
export const canBeHeld = (item: OutboxRecord): boolean =>
  item.event_type === "firing" &&
  item.state === "pending" &&
  item.released_at === undefined &&
  !wasAttempted(item)

/** Whether a firing was found to be held when it was last examined. */
export const isHeld = (item: OutboxRecord): boolean =>
  item.state === "pending" && item.next_evaluation_at !== undefined

/** The firings for one receiver to which holds apply. */
export const holdableOf = (
  items: ReadonlyArray<OutboxRecord>,
  receiver: OutboxRecord["receiver"],
): ReadonlyArray<OutboxRecord> => items.filter((item) => item.receiver === receiver && canBeHeld(item))

/**
 * The firings for one receiver that wait under holds, in their order: where one was found to be held,
 * those behind it wait too. They become due as one.
 */
export const waitingUnderHolds = (
  items: ReadonlyArray<OutboxRecord>,
  receiver: OutboxRecord["receiver"],
): ReadonlyArray<OutboxRecord> => {
  const waiting = holdableOf(items, receiver)
  return waiting.some(isHeld) ? waiting.toSorted((a, b) => a.incident_seq - b.incident_seq) : []
}

/** A firing under these holds: not due, and examined again when the last of them ends. */
export const heldItem = (
  item: OutboxRecord,
  holds: ReadonlyArray<Hold>,
  now: Instant.Instant,
): OutboxRecord => ({
  ...item,
  next_attempt_at: undefined,
  next_evaluation_at: lastEnd(holds),
  updated_at: isHeld(item) ? item.updated_at : now,
})

/** A held firing whose place another one takes. */
export const coalesced = (item: OutboxRecord, now: Instant.Instant): OutboxRecord =>
  endedItem(item, move(OutboxTransitions, "pending", "coalesced"), now)

/**
 * A firing that a claim finds to be held. A claim does not see the firings behind it: if there may be
 * any, all of them are examined soon.
 */
export const heldAtClaim = (
  { incident, row }: WithIncident<OutboxRecord>,
  holds: ReadonlyArray<Hold>,
  now: Instant.Instant,
): OutboxRecord => {
  const item = heldItem(row, holds, now)
  return incident.member_changes > row.incident_seq ? { ...item, next_evaluation_at: now } : item
}

/** Has the held firings of an incident examined soon, because something about it changed. */
export const evaluateSoon = (unit: UnitOfWork, id: IncidentId, now: Instant.Instant): void => {
  for (const item of unit.outbox.group(id))
    if (isHeld(item) && item.next_evaluation_at !== now) unit.outbox.put({ ...item, next_evaluation_at: now })
}

import type * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { OutboxTransitions } from "../model/OutboxTransitions.ts"
import { gatherHolds, type HoldOptions, type Holds } from "./gatherHolds.ts"
import { coalesced, heldItem, isHeld, waitingUnderHolds } from "./heldItems.ts"
import { lastEnd } from "./computeHolds.ts"

/**
 * Examines held firings that are due for it. Those of open incidents that are free now become due
 * (docs/rules.md#holds). Returns how many it found.
 */
export const examineHeld = commandOf(function* (
  unit,
  now,
  options: HoldOptions,
  limit: number,
): Decision<number> {
  yield { heldOutbox: { limit } }
  const { heldOutbox } = unit.searchResults
  yield* examine(unit, heldOutbox, options, now)
  return heldOutbox.length
})

/** Examines the held firings of these incidents, because their holds may have changed. */
export const examineIncidents = commandOf(function* (
  unit,
  now,
  options: HoldOptions,
  ids: ReadonlyArray<IncidentId>,
): Decision<void> {
  yield* examine(unit, ids, options, now)
})

function* examine(
  unit: UnitOfWork,
  found: ReadonlyArray<IncidentId>,
  options: HoldOptions,
  now: Instant.Instant,
): Decision<void> {
  const ids = Array.from(new Set(found))
  if (ids.length === 0) return
  // Incidents are locked before their outbox items, everywhere.
  yield* load(unit, { incidents: ids })
  const incidents = ids.flatMap((id) => unit.incidents.get(id) ?? [])
  const holds = yield* gatherHolds(unit, incidents, options, now)
  for (const incident of incidents) {
    const acknowledgedUntil = holds.acknowledgedUntil(incident)
    // The end of an acknowledgement frees its firings, with a cause of its own.
    if (acknowledgedUntil === undefined || now < acknowledgedUntil)
      examineIncident(unit, incident, holds, now)
  }
}

/** Of several firings for one receiver, the last decides; it states what the others would have. */
export const examineIncident = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  { onItem }: Pick<Holds, "onItem">,
  now: Instant.Instant,
): void => {
  const items = unit.outbox.group(incident.id)
  for (const receiver of new Set(items.filter(isHeld).map((item) => item.receiver))) {
    const waiting = waitingUnderHolds(items, receiver)
    const last = waiting.at(-1)
    if (last === undefined) continue
    const holds = onItem(incident, last)
    if (holds.length > 0) {
      for (const item of waiting)
        if (item.next_evaluation_at !== lastEnd(holds)) unit.outbox.put(heldItem(item, holds, now))
    } else {
      freeOne(unit, waiting, freed(last, incident, "hold_ended", now))
    }
  }
}

/**
 * Of firings that wait under holds, one becomes due and takes the place of the others. It is the first
 * that its receiver gets if one of them would have been.
 */
export const freeOne = (unit: UnitOfWork, waiting: ReadonlyArray<OutboxRecord>, item: OutboxRecord): void => {
  for (const other of waiting) if (other.id !== item.id) unit.outbox.put(coalesced(other, item.updated_at))
  const isFirst = item.cause === "worsened" && waiting.some(({ cause }) => cause === "opened")
  unit.outbox.put(isFirst ? { ...item, cause: "opened" } : item)
}

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
  next_evaluation_at: undefined,
  age_starts_at: now,
  updated_at: now,
})

import type { IncidentId, OutboxId } from "@tocsin/contract/Identifiers"
import type * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { gatherHolds, type HoldOptions } from "./gatherHolds.ts"
import { type Hold, lastEnd } from "./computeHolds.ts"

/** What withholds a firing, and until when as far as that is known now. */
export interface HeldBy {
  readonly held_by: ReadonlyArray<Hold["by"]>
  readonly held_until: Instant.Instant
}

/**
 * Of these outbox items, those that are held now (docs/rules.md#holds). Locks and changes nothing, so that
 * lists can show what a claim would decide.
 */
export const heldItems = commandOf(function* (
  unit,
  now,
  items: ReadonlyArray<OutboxRecord>,
  options: HoldOptions,
): Decision<ReadonlyMap<OutboxId, HeldBy>> {
  const firings = items.filter(({ event_type, state }) => event_type === "firing" && state === "pending")
  const held = new Map<OutboxId, HeldBy>()
  if (firings.length === 0) return held
  yield { incidentsToRead: Array.from(new Set(firings.map(({ incident_id }) => incident_id))) }
  const { incidentsToRead } = unit.searchResults
  const holds = yield* gatherHolds(unit, Array.from(incidentsToRead.values()), options, now)
  for (const item of firings) {
    const incident = incidentsToRead.get(item.incident_id)
    const by = incident === undefined ? undefined : heldBy(holds.onItem(incident, item))
    if (by !== undefined) held.set(item.id, by)
  }
  return held
})

/** Of these incidents, those whose firings would be held now. */
export const heldIncidents = commandOf(function* (
  unit,
  now,
  ids: ReadonlyArray<IncidentId>,
  options: HoldOptions,
): Decision<ReadonlyMap<IncidentId, HeldBy>> {
  const held = new Map<IncidentId, HeldBy>()
  if (ids.length === 0) return held
  yield { incidentsToRead: ids }
  const incidents = Array.from(unit.searchResults.incidentsToRead.values())
  const holds = yield* gatherHolds(unit, incidents, options, now)
  for (const incident of incidents) {
    const by = heldBy(holds.onIncident(incident))
    if (by !== undefined) held.set(incident.id, by)
  }
  return held
})

const heldBy = (holds: ReadonlyArray<Hold>): HeldBy | undefined =>
  holds.length === 0 ? undefined : { held_by: holds.map(({ by }) => by), held_until: lastEnd(holds) }

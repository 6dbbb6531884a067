import type { IncidentId, OutboxId } from "@tocsin/contract/Identifiers"
import type * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { type HoldName, isFiring, type OutboxRecord } from "../model/OutboxRecord.ts"
import type { FoundRunbook } from "@tocsin/contract/PolicyDocument"
import type { IncidentTimeline } from "../ports/Storage.ts"
import { gatherFacts, type FiringOptions, type Gathered } from "./gatherFacts.ts"
import { firstPiece, MOST_EVALUATED } from "./loudMembers.ts"
import { type Hold, lastEnd, UNTIL_A_CHANGE } from "./Hold.ts"
import { type NextFiring, nextFirings } from "./nextFirings.ts"

/** The holds of a firing, and their end; without an end, until its incident changes. */
export interface HeldBy {
  readonly held_by: ReadonlyArray<HoldName>
  readonly held_until: Instant.Instant | undefined
}

/** Whether an outbox item may be held. */
export const isPendingFiring = ({ event_type, state }: OutboxRecord): boolean =>
  event_type === "firing" && state === "pending"

/**
 * Of these outbox items, those that are held now (docs/rules.md#holds): what a claim would find, and what
 * only an evaluation finds, as the last one did. `rest` are items that another transaction has to judge: the
 * incidents before theirs have enough members for one. Locks and changes nothing.
 */
export const heldItems = commandOf(function* (
  unit,
  now,
  items: ReadonlyArray<OutboxRecord>,
  options: FiringOptions,
): Decision<{
  readonly held: ReadonlyMap<OutboxId, HeldBy>
  readonly rest: ReadonlyArray<OutboxRecord>
}> {
  const firings = items.filter(isPendingFiring)
  if (firings.length === 0) return { held: new Map(), rest: [] }
  yield { incidentsToRead: Array.from(new Set(firings.map(({ incident_id }) => incident_id))) }
  const { incidentsToRead } = unit.searchResults
  const incidents = Array.from(incidentsToRead.values())
  const piece = firstPiece(incidents, MOST_EVALUATED)
  const gathered = yield* gatherFacts(unit, piece, options, now)
  const judged = new Map(piece.map((incident) => [incident.id, incident]))
  return {
    held: holdsOfItems(firings, judged, gathered, now),
    rest: firings.filter(({ incident_id: id }) => incidentsToRead.has(id) && !judged.has(id)),
  }
})

const holdsOfItems = (
  firings: ReadonlyArray<OutboxRecord>,
  incidents: ReadonlyMap<IncidentId, IncidentRecord>,
  { onDue }: Gathered,
  now: Instant.Instant,
): ReadonlyMap<OutboxId, HeldBy> => {
  const held = new Map<OutboxId, HeldBy>()
  for (const item of firings) {
    const incident = incidents.get(item.incident_id)
    const by = incident && heldBy([...storedHolds(item, now), ...onDue(incident, item)])
    if (by !== undefined) held.set(item.id, by)
  }
  return held
}

/** The holds of the last evaluation that a claim does not find. */
const storedHolds = (
  { held_by, next_evaluation_at }: OutboxRecord,
  now: Instant.Instant,
): ReadonlyArray<Hold> =>
  next_evaluation_at === undefined || next_evaluation_at <= now
    ? []
    : (held_by ?? []).filter(isStored).map((by) => ({ by, until: next_evaluation_at }))

/** Beside other holds, `outage` may be over. */
const isStored = (by: HoldName, _: number, { length }: ReadonlyArray<HoldName>): boolean =>
  by === "after" || by === "notifications_off" || by === "not_owed" || (by === "outage" && length === 1)

/** Reads the incidents of rows. Locks nothing. */
export const readIncidents = commandOf(function* (
  unit,
  _now,
  ids: ReadonlyArray<IncidentId>,
): Decision<ReadonlyArray<IncidentRecord>> {
  if (ids.length === 0) return []
  yield { incidentsToRead: Array.from(new Set(ids)) }
  return Array.from(unit.searchResults.incidentsToRead.values())
})

/** The holds of the firings of one incident, and its next firings. */
export interface Outlook {
  /** The holds of a firing for a receiver that knows nothing of it. */
  readonly held: HeldBy | undefined
  readonly heldItems: ReadonlyMap<OutboxId, HeldBy>
  readonly next: ReadonlyArray<NextFiring>
  readonly runbook: FoundRunbook | undefined
  /** When it was read. */
  readonly now: Instant.Instant
}

/** Reads the outlook of an incident with these outbox items. Locks and changes nothing. */
export const readOutlook = commandOf(function* (
  unit,
  now,
  { incident, outbox }: Pick<IncidentTimeline, "incident" | "outbox">,
  options: FiringOptions,
): Decision<Outlook> {
  const gathered = yield* gatherFacts(unit, [incident], { ...options, looksAhead: true }, now)
  const pending = outbox.filter(isPendingFiring)
  return {
    held: heldBy(gathered.onNew(incident)),
    runbook: gathered.runbookOf(incident),
    heldItems: holdsOfItems(pending, new Map([[incident.id, incident]]), gathered, now),
    next: nextFirings(gathered.facts(incident, outbox.filter(isFiring)), gathered, now),
    now,
  }
})

/** Of these incidents, those whose firings would be held now. */
export const heldIncidents = commandOf(function* (
  unit,
  now,
  ids: ReadonlyArray<IncidentId>,
  options: FiringOptions,
): Decision<ReadonlyMap<IncidentId, HeldBy>> {
  const held = new Map<IncidentId, HeldBy>()
  if (ids.length === 0) return held
  yield { incidentsToRead: ids }
  const incidents = Array.from(unit.searchResults.incidentsToRead.values())
  const { onNew } = yield* gatherFacts(unit, incidents, options, now)
  for (const incident of incidents) {
    const by = heldBy(onNew(incident))
    if (by !== undefined) held.set(incident.id, by)
  }
  return held
})

const heldBy = (holds: ReadonlyArray<Hold>): HeldBy | undefined => {
  if (holds.length === 0) return undefined
  const until = lastEnd(holds)
  return { held_by: holds.map(({ by }) => by), held_until: until === UNTIL_A_CHANGE ? undefined : until }
}

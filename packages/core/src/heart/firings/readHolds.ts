import type { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration } from "effect"
import { loneCommandOf, type LoneDecision } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { holdsInForce, inOrder, isFiring, type OutboxRecord, wasSent } from "../model/OutboxRecord.ts"
import type { HoldName } from "../model/StoredHold.ts"
import type { SilenceRecord } from "../model/SilenceRecord.ts"
import type { FoundRunbook } from "@tocsin/contract/policy/PolicyDocument"
import type { IncidentTimeline } from "../../kernel/ports/Storage.ts"
import { gatherDue, gatherFacts, type FiringOptions, type Gathered } from "./gatherFacts.ts"
import { EVALUATED_TOGETHER, firstPiece } from "./loudMembers.ts"
import { mayBeHeld, type Hold, lastEnd, momentOf, UNTIL_A_CHANGE } from "./Hold.ts"
import { type NextFiring, nextFirings } from "./nextFirings.ts"

/** The holds of a firing, and their end; without an end, until its incident changes. */
export interface HeldBy {
  readonly held_by: ReadonlyArray<HoldName>
  readonly held_until: Instant.Instant | undefined
}

/**
 * Of these outbox items, those that are held now (docs/rules.md#holds): what a claim would find, and what
 * only an evaluation finds, as the last one did. `rest` are items that another transaction has to judge: the
 * incidents before theirs have enough members for one. Locks and changes nothing.
 */
export const heldItems = loneCommandOf(function* (
  unit,
  items: ReadonlyArray<OutboxRecord>,
  options: FiringOptions,
): LoneDecision<{
  readonly held: ReadonlyMap<OutboxId, HeldBy>
  readonly rest: ReadonlyArray<OutboxRecord>
}> {
  const firings = items.filter(mayBeHeld)
  if (firings.length === 0) return { held: new Map(), rest: [] }
  const ids = Array.from(new Set(firings.map(({ incident_id }) => incident_id)))
  const found = yield* find("incidentsToRead", ids)
  const incidents = Array.from(found.values())
  const piece = firstPiece(incidents, EVALUATED_TOGETHER)
  const gathered = yield* gatherDue(unit, piece, options, unit.now)
  const judged = new Map(piece.map((incident) => [incident.id, incident]))
  return {
    held: heldFirings(firings, judged, gathered, unit.now),
    rest: firings.filter(({ incident_id: id }) => found.has(id) && !judged.has(id)),
  }
})

const heldOf = <Row extends { readonly id: OutboxId | IncidentId }>(
  rows: ReadonlyArray<Row>,
  holdsOf: (row: Row) => ReadonlyArray<Hold>,
): ReadonlyMap<Row["id"], HeldBy> => {
  const held = new Map<Row["id"], HeldBy>()
  for (const row of rows) {
    const by = heldBy(holdsOf(row))
    if (by !== undefined) held.set(row.id, by)
  }
  return held
}

const heldFirings = (
  firings: ReadonlyArray<OutboxRecord>,
  incidents: ReadonlyMap<IncidentId, IncidentRecord>,
  { onDue }: Pick<Gathered, "onDue">,
  now: Instant.Instant,
) =>
  heldOf(firings, (item) => {
    const incident = incidents.get(item.incident_id)
    return incident === undefined ? [] : [...storedHolds(item, now), ...onDue(incident, item).inForce]
  })

/** The holds that only an evaluation finds. */
const EVALUATED: ReadonlySet<HoldName> = new Set(["after", "notifications_off", "not_owed", "outage"])

/** Those of the last evaluation. */
const storedHolds = (item: OutboxRecord, now: Instant.Instant): ReadonlyArray<Hold> =>
  holdsInForce(item)
    .filter(({ by }) => EVALUATED.has(by))
    .map(({ by, until }) => ({ by, until: until === undefined ? UNTIL_A_CHANGE : momentOf(until) }))
    .filter(({ until }) => now < until)

/** Reads the incidents of rows. Locks nothing. */
export const readIncidents = loneCommandOf(function* (
  _unit,
  ids: ReadonlyArray<IncidentId>,
): LoneDecision<ReadonlyArray<IncidentRecord>> {
  if (ids.length === 0) return []
  return Array.from((yield* find("incidentsToRead", Array.from(new Set(ids)))).values())
})

/**
 * Reads the firing of each receiver of incidents that says whether it was notified: one that reached it, or else
 * its newest. Locks nothing.
 */
export const readFirings = loneCommandOf(function* (
  _unit,
  ids: ReadonlyArray<IncidentId>,
): LoneDecision<ReadonlyArray<OutboxRecord>> {
  if (ids.length === 0) return []
  const firings = (yield* find("outboxToRead", ids)).filter(isFiring).toSorted(inOrder)
  const lastOf = new Map(
    [...firings, ...firings.filter(wasSent)].map((item) => [`${item.incident_id} ${item.receiver}`, item]),
  )
  return Array.from(lastOf.values()).toSorted((a, b) => (a.receiver < b.receiver ? -1 : 1))
})

/** Silences that ended earlier are not compared: an incident may be open for years. */
const LOOKS_BACK = Duration.days(31)

/** The holds of the firings of one incident, and its next firings. */
export interface Outlook {
  /** The holds of a firing for a receiver that knows nothing of it. */
  readonly held: HeldBy | undefined
  readonly heldItems: ReadonlyMap<OutboxId, HeldBy>
  readonly next: ReadonlyArray<NextFiring>
  readonly runbook: FoundRunbook | undefined
  /** The silences in force during its last 31 days, whatever they cover. */
  readonly silences: ReadonlyArray<SilenceRecord>
  readonly now: Instant.Instant
}

/** Reads the outlook of an incident with these outbox items. Locks and changes nothing. */
export const readOutlook = loneCommandOf(function* (
  unit,
  { incident, outbox }: Pick<IncidentTimeline, "incident" | "outbox">,
  options: FiringOptions,
): LoneDecision<Outlook> {
  // Of an open incident, the silences in force are among these; another one has no holds.
  const { now } = unit
  const { opened_at, resolved_at = now } = incident
  const endingAfter = Instant.max(opened_at, Instant.minus(resolved_at, LOOKS_BACK))
  const spanOfSilences = { endingAfter, begunBy: incident.resolved_at }
  const gathered = yield* gatherFacts(unit, [incident], { ...options, spanOfSilences, looksAhead: true }, now)
  const pending = outbox.filter(mayBeHeld)
  return {
    silences: gathered.silences,
    held: heldBy(gathered.onNew(incident)),
    runbook: gathered.runbookOf(incident),
    heldItems: heldFirings(pending, new Map([[incident.id, incident]]), gathered, now),
    next: nextFirings(gathered.facts(incident, outbox), gathered, now),
    now,
  }
})

/** Of these incidents, those whose firings would be held now. */
export const heldIncidents = loneCommandOf(function* (
  unit,
  ids: ReadonlyArray<IncidentId>,
  options: FiringOptions,
): LoneDecision<ReadonlyMap<IncidentId, HeldBy>> {
  if (ids.length === 0) return new Map()
  const incidents = Array.from((yield* find("incidentsToRead", ids)).values())
  const { onNew } = yield* gatherFacts(unit, incidents, options, unit.now)
  return heldOf(incidents, onNew)
})

const heldBy = (holds: ReadonlyArray<Hold>): HeldBy | undefined => {
  if (holds.length === 0) return undefined
  const until = lastEnd(holds)
  return { held_by: holds.map(({ by }) => by), held_until: until === UNTIL_A_CHANGE ? undefined : until }
}

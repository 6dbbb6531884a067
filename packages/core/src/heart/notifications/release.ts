import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import type { OutboxId } from "@tocsin/contract/formats/Identifiers"
import { load, loneCommandOf, type LoneDecision } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { gatherDue, type FiringOptions } from "../firings/gatherFacts.ts"
import { canBeHeld, freed, mayBeHeld } from "../firings/Hold.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { discarded, isHeld, type OutboxRecord, OutboxTransitions } from "../model/OutboxRecord.ts"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { putInOrder } from "./enqueue.ts"

/** Loads an outbox item and its incident, which is locked before its items, everywhere. */
export function* loadItem(unit: UnitOfWork, id: OutboxId): LoneDecision<OutboxRecord | undefined> {
  const item = yield* find("itemToRead", id)
  if (item === undefined) return undefined
  yield* load(unit, { incidents: [item.incident_id] })
  yield* load(unit, { rows: { outbox: [id] } })
  return unit.outbox.get(id)
}

export type ReleaseOutcome = "released" | "no_such_item" | "not_held"

/**
 * Sends a held firing now, and never holds it again (docs/rules.md#release). It states what its incident
 * shows, so the other held firings of that incident and receiver are discarded.
 */
export const release = loneCommandOf(function* (
  unit,
  id: OutboxId,
  options: FiringOptions,
  by: Signature,
): LoneDecision<ReleaseOutcome> {
  const { now } = unit
  const found = yield* loadItem(unit, id)
  if (found === undefined) return "no_such_item"
  const incident = unit.incidents.get(found.incident_id)
  if (incident?.state !== "open" || !mayBeHeld(found)) return "not_held"
  if (!canBeHeld(found)) return yield* releaseRetry(unit, found, { by, incident, options })
  const waiting = unit.outbox
    .group(found.incident_id)
    .filter((item) => item.receiver === found.receiver && canBeHeld(item))
  if (!waiting.some(isHeld)) {
    // No claim has examined them. Lists show what one would decide.
    const { onDue } = yield* gatherDue(unit, [incident], options, now)
    if (onDue(incident, found).inForce.length === 0) return "not_held"
  }
  for (const other of waiting) if (other.id !== id) unit.outbox.put(discarded(other, "coalesced", now))
  const isFirst = found.cause === "worsened" && waiting.some(({ cause }) => cause === "opened")
  const cause = isFirst ? "opened" : found.cause
  const why = isFirst ? undefined : found.why
  const item = freed(found, incident, "released", { now, past: [] })
  putInOrder(unit, { ...item, cause, why, released_at: now }, now)
  recordAudit(unit, by, "notification.released", [id], {})
  return "released"
})

/** Makes a further attempt now at a firing that an acknowledgement holds. Its receiver may know its text, which stays. */
function* releaseRetry(
  unit: UnitOfWork,
  item: OutboxRecord,
  {
    by,
    incident,
    options,
  }: { readonly by: Signature; readonly incident: IncidentRecord; readonly options: FiringOptions },
): LoneDecision<ReleaseOutcome> {
  const { now } = unit
  const { onDue } = yield* gatherDue(unit, [incident], options, now)
  if (onDue(incident, item).inForce.length === 0) return "not_held"
  const state = move(OutboxTransitions, "retry", "released")
  const times = { released_at: now, next_attempt_at: now, age_starts_at: now, updated_at: now }
  putInOrder(unit, { ...item, ...times, state, holds: undefined, next_evaluation_at: undefined }, now)
  recordAudit(unit, by, "notification.released", [item.id], {})
  return "released"
}

export type ReplayOutcome =
  | "replayed"
  | "no_such_item"
  | "not_failed"
  | "firing_of_resolved"
  | "incident_expired"

/** Returns a dead letter to the outbox as a new one of the same ID (docs/rules.md#dead-letters). */
export const replay = loneCommandOf(function* (
  unit,
  id: OutboxId,
  by: Signature,
): LoneDecision<ReplayOutcome> {
  const found = yield* loadItem(unit, id)
  if (found === undefined) return "no_such_item"
  if (found.state !== "failed") return "not_failed"
  const incident = unit.incidents.get(found.incident_id)
  if (incident === undefined) return "incident_expired"
  if (found.event_type === "firing" && incident.state !== "open") return "firing_of_resolved"
  unit.outbox.put({
    ...found,
    state: move(OutboxTransitions, found.state, "replayed"),
    attempts: 0,
    is_backfill: false,
    next_attempt_at: unit.now,
    last_error: undefined,
    age_starts_at: unit.now,
    updated_at: unit.now,
  })
  recordAudit(unit, by, "notification.replayed", [id], {})
  return "replayed"
})

import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import type { OutboxId } from "@tocsin/contract/Identifiers"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import { gatherFacts, type FiringOptions } from "../firings/gatherFacts.ts"
import { canBeHeld, coalesced, freed } from "../firings/Hold.ts"
import { isHeld, OutboxTransitions } from "../model/OutboxRecord.ts"
import { move } from "@tocsin/contract/TransitionTable"

export type ReleaseOutcome = "released" | "no_such_item" | "not_held"

/**
 * Sends a held firing now, and never holds it again (docs/rules.md#release). It states what its incident
 * shows, so the other held firings of that incident and receiver are discarded.
 */
export const release = commandOf(function* (
  unit,
  now,
  id: OutboxId,
  options: FiringOptions,
  by: Signature,
): Decision<ReleaseOutcome> {
  yield* load(unit, { rows: { outbox: [id] } })
  const found = unit.outbox.get(id)
  if (found === undefined) return "no_such_item"
  yield* load(unit, { incidents: [found.incident_id] })
  const incident = unit.incidents.get(found.incident_id)
  if (incident?.state !== "open" || !canBeHeld(found)) return "not_held"
  const waiting = unit.outbox
    .group(found.incident_id)
    .filter((item) => item.receiver === found.receiver && canBeHeld(item))
  if (!waiting.some(isHeld)) {
    // No claim has examined them. Lists show what one would decide.
    const { onDue } = yield* gatherFacts(unit, [incident], options, now)
    if (onDue(incident, found).length === 0) return "not_held"
  }
  for (const other of waiting) if (other.id !== id) unit.outbox.put(coalesced(other, now))
  const isFirst = found.cause === "worsened" && waiting.some(({ cause }) => cause === "opened")
  const cause = isFirst ? "opened" : found.cause
  unit.outbox.put({ ...freed(found, incident, "released", now), cause, released_at: now })
  recordAudit(unit, now, by, "notification.released", [id], {})
  return "released"
})

export type ReplayOutcome =
  | "replayed"
  | "no_such_item"
  | "not_failed"
  | "firing_of_resolved"
  | "incident_expired"

/** Returns a dead letter to the outbox as a new one of the same ID (docs/rules.md#dead-letters). */
export const replay = commandOf(function* (unit, now, id: OutboxId, by: Signature): Decision<ReplayOutcome> {
  yield* load(unit, { rows: { outbox: [id] } })
  const found = unit.outbox.get(id)
  if (found === undefined) return "no_such_item"
  yield* load(unit, { incidents: [found.incident_id] })
  if (found.state !== "failed") return "not_failed"
  const incident = unit.incidents.get(found.incident_id)
  if (incident === undefined) return "incident_expired"
  if (found.event_type === "firing" && incident.state !== "open") return "firing_of_resolved"
  unit.outbox.put({
    ...found,
    state: move(OutboxTransitions, found.state, "replayed"),
    attempts: 0,
    is_backfill: false,
    next_attempt_at: now,
    last_error: undefined,
    age_starts_at: now,
    updated_at: now,
  })
  recordAudit(unit, now, by, "notification.replayed", [id], {})
  return "replayed"
})

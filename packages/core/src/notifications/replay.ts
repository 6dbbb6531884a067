import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import type { OutboxId } from "@tocsin/contract/Identifiers"
import { move } from "@tocsin/contract/TransitionTable"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import { OutboxTransitions } from "../model/OutboxRecord.ts"

/** The result of a replay. */
export type ReplayOutcome =
  | "replayed"
  | "no_such_item"
  | "not_failed"
  | "firing_of_resolved"
  | "incident_expired"

/**
 * Returns a dead letter to the outbox: same ID, attempts 0, age counted from now
 * (docs/rules.md#dead-letters).
 */
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
    next_attempt_at: now,
    last_error: undefined,
    age_starts_at: now,
    updated_at: now,
  })
  recordAudit(unit, now, by, "notification.replayed", [id], {})
  return "replayed"
})

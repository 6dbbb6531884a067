import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import type { OutboxId } from "@tocsin/contract/Identifiers"
import { move } from "@tocsin/contract/TransitionTable"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import { OutboxTransitions } from "../model/OutboxTransitions.ts"

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
export const replay = commandOf(function* (
  workspace,
  now,
  id: OutboxId,
  by: Signature,
): Decision<ReplayOutcome> {
  yield* ensure(workspace, { outboxItems: [id] })
  const found = workspace.outbox.get(id)
  if (found === undefined) return "no_such_item"
  yield* ensure(workspace, { incidents: [found.incident_id] })
  if (found.state !== "failed") return "not_failed"
  const incident = workspace.incidents.get(found.incident_id)
  if (incident === undefined) return "incident_expired"
  if (found.event_type === "firing" && incident.state !== "open") return "firing_of_resolved"
  workspace.outbox.put({
    ...found,
    state: move(OutboxTransitions, found.state, "replayed"),
    attempts: 0,
    next_attempt_at: now,
    last_error: undefined,
    counts_from: now,
    updated_at: now,
  })
  recordAudit(workspace, now, by, "notification.replayed", [id], {})
  return "replayed"
})

import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import type { OutboxId } from "../contract/Identifiers.ts"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import { coalesced, freed } from "../holds/examineHeld.ts"
import { canBeHeld, isHeld } from "../holds/heldItems.ts"

/** The result of a release. */
export type ReleaseOutcome = "released" | "no_such_item" | "not_held"

/**
 * Sends a held firing now, and never holds it again (docs/rules.md#release). Earlier held firings of
 * its incident and receiver state no more than it does, and are discarded.
 */
export const release = commandOf(function* (
  workspace,
  now,
  id: OutboxId,
  by: Signature,
): Decision<ReleaseOutcome> {
  yield* ensure(workspace, { outboxItems: [id] })
  const found = workspace.outbox.get(id)
  if (found === undefined) return "no_such_item"
  yield* ensure(workspace, { incidents: [found.incident_id] })
  const incident = workspace.incidents.get(found.incident_id)
  if (incident?.state !== "open" || !isHeld(found)) return "not_held"
  for (const item of workspace.outbox.group(incident.id)) {
    const isEarlier = item.receiver === found.receiver && item.incident_seq < found.incident_seq
    if (isEarlier && canBeHeld(item)) workspace.outbox.put(coalesced(item, now))
  }
  workspace.outbox.put({ ...freed(found, incident, "released", now), released_at: now })
  recordAudit(workspace, now, by, "notification.released", [id], {})
  return "released"
})

import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import type { OutboxId } from "@tocsin/contract/Identifiers"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import { freed, freeOne } from "../holds/examineHeld.ts"
import { gatherHolds, type HoldOptions } from "../holds/gatherHolds.ts"
import { canBeHeld, holdableOf, isHeld } from "../holds/heldItems.ts"

/** The result of a release. */
export type ReleaseOutcome = "released" | "no_such_item" | "not_held"

/**
 * Sends a held firing now, and never holds it again (docs/rules.md#release). It states what its incident
 * shows, so the other held firings of that incident and receiver are discarded.
 */
export const release = commandOf(function* (
  unit,
  now,
  id: OutboxId,
  options: HoldOptions,
  by: Signature,
): Decision<ReleaseOutcome> {
  yield* load(unit, { outboxItems: [id] })
  const found = unit.outbox.get(id)
  if (found === undefined) return "no_such_item"
  yield* load(unit, { incidents: [found.incident_id] })
  const incident = unit.incidents.get(found.incident_id)
  if (incident?.state !== "open" || !canBeHeld(found)) return "not_held"
  const waiting = holdableOf(unit.outbox.group(found.incident_id), found.receiver)
  if (!waiting.some(isHeld)) {
    // No claim has examined them. Lists show what one would decide.
    const { onItem } = yield* gatherHolds(unit, [incident], options, now)
    if (onItem(incident, found).length === 0) return "not_held"
  }
  freeOne(unit, waiting, { ...freed(found, incident, "released", now), released_at: now })
  recordAudit(unit, now, by, "notification.released", [id], {})
  return "released"
})

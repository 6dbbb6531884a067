import { Duration } from "effect"
import type { Labels } from "@tocsin/contract/Labels"
import * as Instant from "@tocsin/contract/Instant"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import { hasHeld } from "../firings/heldItems.ts"
import { isSameReport } from "../model/AgentRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { CheckRef } from "../model/CheckRecord.ts"
import { hasTerms, unexpected } from "../model/ExpectationRecord.ts"

/** The labels of a check change at most this often; a later declaration changes them. */
const AT_MOST_EVERY = Duration.minutes(1)

/**
 * Gives a check these labels (docs/rules.md#check-labels), unless they changed a moment ago: then it keeps
 * its own. Needs its expectation.
 */
export const labelCheck = (
  unit: UnitOfWork,
  ref: CheckRef,
  given: Labels | undefined,
  now: Instant.Instant,
): "equal" | "changed" | "kept" => {
  const before = unit.expectations.get(ref)
  const labels = given !== undefined && Object.keys(given).length === 0 ? undefined : given
  if (isSameReport(before?.labels, labels)) return "equal"
  const labelled_at = before?.labelled_at
  if (labelled_at !== undefined && now < Instant.plus(labelled_at, AT_MOST_EVERY)) return "kept"
  if (before !== undefined && labels === undefined && !hasTerms(before)) {
    unit.expectations.delete(before)
    return "changed"
  }
  unit.expectations.put({ ...(before ?? unexpected(ref, now)), labels, labelled_at: now })
  return "changed"
}

/**
 * Evaluates the open incidents of checks soon, since matchers may compare their labels. Needs the checks
 * and expectations.
 */
export function* evaluateLabelled(
  unit: UnitOfWork,
  refs: ReadonlyArray<CheckRef>,
  { routesReadAgents }: Pick<Policy, "routesReadAgents">,
  now: Instant.Instant,
): Decision<void> {
  const ids = new Set(
    refs
      .flatMap((ref) => [unit.checks.get(ref)?.incident_id, unit.expectations.get(ref)?.incident_id])
      .filter((id) => id !== undefined),
  )
  if (ids.size === 0) return
  yield* load(unit, { incidents: Array.from(ids) })
  for (const id of ids) {
    const incident = unit.incidents.get(id)
    if (incident?.state !== "open") continue
    if (routesReadAgents || hasHeld(unit, incident))
      unit.incidents.put({ ...incident, next_evaluation_at: now })
  }
}

import { Duration } from "effect"
import type { Labels } from "@tocsin/contract/Labels"
import * as Instant from "@tocsin/contract/Instant"
import type { Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import { lookSoon } from "../holds/heldItems.ts"
import { isSameReport } from "../model/AgentRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { CheckRef } from "../model/CheckRecord.ts"
import { hasTerms } from "../model/ExpectationRecord.ts"

/** The labels of a check change at most this often; a later declaration changes them. */
const AT_MOST_EVERY = Duration.minutes(1)

/** What a declaration makes of the labels of a check; `kept` because they changed a moment ago. */
export type Labelling = "equal" | "changed" | "kept"

/** Gives a check these labels (docs/rules.md#check-labels). Needs its expectation. */
export const labelCheck = (
  workspace: Workspace,
  ref: CheckRef,
  given: Labels | undefined,
  now: Instant.Instant,
): Labelling => {
  const before = workspace.expectations.get(ref)
  const labels = given !== undefined && Object.keys(given).length === 0 ? undefined : given
  if (isSameReport(before?.labels, labels)) return "equal"
  const labelled_at = before?.labelled_at
  if (labelled_at !== undefined && now < Instant.plus(labelled_at, AT_MOST_EVERY)) return "kept"
  if (before !== undefined && labels === undefined && !hasTerms(before)) {
    workspace.expectations.delete(before)
    return "changed"
  }
  const { agent_id, check_id, registration_id } = ref
  const unexpected = {
    agent_id,
    check_id,
    registration_id,
    origin: "agent",
    terms: undefined,
    expected_from: now,
    look_at: undefined,
    incident_id: undefined,
  } as const
  workspace.expectations.put({ ...(before ?? unexpected), labels, labelled_at: now })
  return "changed"
}

/**
 * Evaluates the open incidents of checks soon, since matchers may compare their labels. Needs the checks
 * and expectations.
 */
export function* lookAtLabelled(
  workspace: Workspace,
  refs: ReadonlyArray<CheckRef>,
  { hasTimers }: Pick<Policy, "hasTimers">,
  now: Instant.Instant,
): Decision<void> {
  const ids = new Set(
    refs
      .flatMap((ref) => [
        workspace.checks.get(ref)?.incident_id,
        workspace.expectations.get(ref)?.incident_id,
      ])
      .filter((id) => id !== undefined),
  )
  if (ids.size === 0) return
  yield* ensure(workspace, { incidents: Array.from(ids) })
  for (const id of ids) {
    const incident = workspace.incidents.get(id)
    if (incident?.state !== "open") continue
    if (hasTimers) workspace.incidents.put({ ...incident, next_look_at: now })
    lookSoon(workspace, id, now)
  }
}

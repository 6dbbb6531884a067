import { type Duration, Result } from "effect"
import { recognise } from "../admission/agentKeys.ts"
import type { ValidationError } from "@tocsin/contract/Errors"
import type { ExpectationsRequest, ExpectationsResponse } from "@tocsin/contract/Expectations"
import type { AgentId, KeyHash } from "@tocsin/contract/Identifiers"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { expectCheck, withdrawExpectation } from "./changeExpectation.ts"
import { labelCheck, evaluateLabelled } from "./labelCheck.ts"
import { checksOf, type CheckRef } from "../model/CheckRecord.ts"
import { hasTerms } from "../model/ExpectationRecord.ts"
import { followPolicy, isDeclared } from "./followPolicy.ts"
import { type DeclaredCheck, decideTerms } from "../policy/decideTerms.ts"

/** The result of a declaration; a refused one changes nothing. */
export type DeclarationOutcome =
  | { readonly outcome: "declared"; readonly counts: ExpectationsResponse }
  | { readonly outcome: "invalid"; readonly error: ValidationError }
  | { readonly outcome: "agent_blocked" | "agent_not_accepted" }

/**
 * Decides which checks of an agent are expected to report (docs/rules.md#freshness). Reads the terms of
 * accepted keys only: a thousand cron expressions take longer than all else about a request.
 */
export const declareExpectations = commandOf(function* (
  unit,
  now,
  input: {
    readonly agent_id: AgentId
    readonly key_hash: KeyHash
    readonly request: ExpectationsRequest
    readonly incidents: IncidentOptions
    readonly staleAfter: Duration.Duration
  },
): Decision<DeclarationOutcome> {
  const { agent_id, key_hash, request } = input
  const found = yield* recognise(unit, { agent_id, key_hash })
  if (found.standing === "blocked") return { outcome: "agent_blocked" }
  if (found.standing !== "accepted") return { outcome: "agent_not_accepted" }
  const read = decideTerms(request, input.staleAfter)
  if (Result.isFailure(read)) return { outcome: "invalid", error: read.failure }
  const { registration_id } = found.agent
  const declared = new Set(request.checks.map(({ check_id }) => check_id))
  const checks = { agent_id, check_ids: Array.from(declared) }
  yield* load(unit, {
    checks,
    rows: { expectation: checksOf(found.agent, checks.check_ids) },
    groups: { expectation: [found.agent] },
  })
  const before = unit.expectations.group(registration_id)
  const unlisted = request.complete
    ? before.flatMap(({ check_id, labels, origin }): ReadonlyArray<DeclaredCheck> =>
        declared.has(check_id) || (origin === "policy" && labels === undefined)
          ? []
          : [{ check_id, terms: undefined, labels: undefined }],
      )
    : []
  yield* load(unit, { checks: { agent_id, check_ids: unlisted.map(({ check_id }) => check_id) } })
  const incidents = new Incidents(unit, now, input.incidents)
  const inForce = { policy: input.incidents.policy(), staleAfter: input.staleAfter, now }
  const relabelled: Array<CheckRef> = []
  let [withdrawn, labels_kept] = [0, 0]
  for (const { check_id, labels, terms } of [...read.success, ...unlisted]) {
    const ref = { agent_id, registration_id, check_id }
    const labelling = labelCheck(unit, ref, labels, now)
    if (labelling === "changed") relabelled.push(ref)
    if (labelling === "kept") labels_kept += 1
    if (terms !== undefined) {
      yield* expectCheck(unit, incidents, { ref, origin: "agent", terms, now })
      continue
    }
    const expectation = unit.expectations.get(ref)
    if (isDeclared(expectation)) {
      yield* withdrawExpectation(unit, incidents, expectation)
      withdrawn += 1
    }
    // Of a check that its agent does not expect the policy may, and its rules may compare labels.
    yield* followPolicy(unit, incidents, { agent: found.agent, check_id }, inForce)
  }
  yield* evaluateLabelled(unit, relabelled, inForce.policy, now)
  const expected = unit.expectations.group(registration_id).filter(hasTerms).length
  return {
    outcome: "declared",
    counts: { expected, withdrawn, ...(labels_kept > 0 && { labels_kept }) },
  }
})

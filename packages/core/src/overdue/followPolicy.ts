import type { Duration } from "effect"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { expectCheck, isEqual, withdrawExpectation } from "./changeExpectation.ts"
import { type ExpectationRecord, hasTerms, type Terms, type WithTerms } from "../model/ExpectationRecord.ts"
import { mergeLabels } from "../firings/nameReceivers.ts"
import { completeTerms } from "../policy/decideTerms.ts"

/** The policy, and the setting that completes its terms. */
export interface InForce {
  readonly policy: Policy
  readonly staleAfter: Duration.Duration
}

type Matched = Pick<AgentRecord, "agent_id" | "hostname" | "labels">

/** The policy's terms for a check that has reported; absent if no rule matches it. */
const termsByPolicy = (
  { policy, staleAfter }: InForce,
  { agent_id, hostname, labels }: Matched,
  check_id: CheckId,
  expectation: ExpectationRecord | undefined,
): Terms | undefined => {
  const rule = policy.freshness.ruleOf({
    agent_id,
    check_id,
    hostname,
    labels: mergeLabels(labels, expectation?.labels),
  })
  return rule && completeTerms({ ...rule, notifications_enabled: true }, staleAfter)
}

/** Whether its agent expects a check. */
export const isDeclared = (expectation: ExpectationRecord | undefined): expectation is WithTerms =>
  hasTerms(expectation) && expectation.origin === "agent"

/** Whether a check that has reported is expected as the policy, or its agent, wants it. */
export const followsPolicy = (
  inForce: InForce,
  agent: Matched,
  {
    check_id,
    expectation,
  }: {
    readonly check_id: CheckId
    readonly expectation: ExpectationRecord | undefined
  },
): boolean => {
  if (isDeclared(expectation)) return true
  const terms = termsByPolicy(inForce, agent, check_id, expectation)
  if (terms === undefined || !hasTerms(expectation)) return terms === expectation?.terms
  return isEqual(terms, expectation.terms)
}

/**
 * Makes the expectation of a check follow the policy once it has reported, unless its agent declares
 * it (docs/rules.md#freshness). Needs the check and its expectation.
 */
export function* followPolicy(
  unit: UnitOfWork,
  incidents: Incidents,
  { agent, check_id }: { readonly agent: AgentRecord; readonly check_id: CheckId },
  inForce: InForce & { readonly now: Instant },
): Decision<void> {
  const { agent_id, registration_id } = agent
  const ref = { agent_id, registration_id, check_id }
  const expectation = unit.expectations.get(ref)
  if (isDeclared(expectation) || unit.checks.get(ref) === undefined) return
  const terms = termsByPolicy(inForce, agent, check_id, expectation)
  if (terms !== undefined)
    yield* expectCheck(unit, incidents, { ref, origin: "policy", terms, now: inForce.now })
  else if (hasTerms(expectation)) yield* withdrawExpectation(unit, incidents, expectation)
}

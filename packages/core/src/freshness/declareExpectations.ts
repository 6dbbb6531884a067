import { type Duration, Result } from "effect"
import { recognise } from "../admission/agentKeys.ts"
import type { ValidationError } from "@tocsin/contract/Errors"
import type { ExpectationsRequest } from "@tocsin/contract/Expectations"
import type { AgentId, KeyHash } from "@tocsin/contract/Identifiers"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { expectCheck, withdrawExpectation } from "./changeExpectation.ts"
import { followPolicy } from "./followPolicy.ts"
import { termsOf } from "../policy/termsOf.ts"

/** The checks that an agent declares, and its key. */
export interface Declaration {
  readonly agent_id: AgentId
  readonly key_hash: KeyHash
  readonly request: ExpectationsRequest
  readonly incidents: IncidentOptions
  readonly staleAfter: Duration.Duration
}

/** The result of a declaration; a refused one changes nothing. */
export type DeclarationOutcome =
  | { readonly outcome: "declared"; readonly expected: number; readonly withdrawn: number }
  | { readonly outcome: "invalid"; readonly error: ValidationError }
  | { readonly outcome: "agent_blocked" | "agent_not_accepted" }

/**
 * Decides which checks of an agent are expected to report (docs/rules.md#freshness). Reads the terms of
 * accepted keys only: a thousand cron expressions take longer than all else about a request.
 */
export const declareExpectations = commandOf(function* (
  workspace,
  now,
  input: Declaration,
): Decision<DeclarationOutcome> {
  const { agent_id, key_hash, request } = input
  const found = yield* recognise(workspace, { agent_id, key_hash })
  if (found.standing === "blocked") return { outcome: "agent_blocked" }
  if (found.standing !== "accepted") return { outcome: "agent_not_accepted" }
  const read = termsOf(request, input.staleAfter)
  if (Result.isFailure(read)) return { outcome: "invalid", error: read.failure }
  const { registration_id } = found.agent
  const declared = new Set(request.checks.map(({ check_id }) => check_id))
  const checks = { agent_id, check_ids: Array.from(declared) }
  yield* ensure(workspace, { checks, expectations: checks, expectationsOfAgents: [agent_id] })
  const before = workspace.expectations.group(registration_id)
  const withdrawn = request.complete
    ? before.filter(({ check_id, origin }) => origin === "agent" && !declared.has(check_id))
    : []
  yield* ensure(workspace, { checks: { agent_id, check_ids: withdrawn.map(({ check_id }) => check_id) } })
  const incidents = new Incidents(workspace, now, input.incidents)
  for (const { check_id, terms } of read.success) {
    const ref = { agent_id, registration_id, check_id }
    yield* expectCheck(workspace, incidents, { ref, origin: "agent", terms, now })
  }
  const inForce = { policy: input.incidents.policy(), staleAfter: input.staleAfter, now }
  for (const expectation of withdrawn) {
    yield* withdrawExpectation(workspace, incidents, expectation)
    const check = { agent: found.agent, check_id: expectation.check_id }
    yield* followPolicy(workspace, incidents, check, inForce)
  }
  const expected = workspace.expectations.group(registration_id).length
  return { outcome: "declared", expected, withdrawn: withdrawn.length }
})

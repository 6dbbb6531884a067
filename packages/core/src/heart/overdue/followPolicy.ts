/// <reference lib="es2024.collection" />
import { Duration, Effect } from "effect"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { commandOf, type Decision, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { Incidents } from "../incidents/Incidents.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { expectCheck, hasSameTerms, withdrawExpectation } from "./changeExpectation.ts"
import type { ExpectationRecord, Terms } from "../model/ExpectationRecord.ts"
import { mergeLabels } from "../firings/loudMembers.ts"
import { completeTerms } from "../policy/decideTerms.ts"
import { type CheckRef, checksOf, findByCheck } from "../../kernel/model/CheckRef.ts"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import type { ListQuery } from "../../lists/ListDefinitions.ts"
import { ALL_CHECKS, firstRows, passes } from "../../kernel/engine/lists/readPage.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { FollowedLabels } from "../policy/followLabels.ts"
import type { PolicyInForce } from "../policy/PolicyInForce.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"

/** The policy, and the setting that completes its terms. */
type InForce = Pick<IncidentOptions, "policy" | "staleAfter">

type Matched = Pick<AgentRecord, "agent_id" | "hostname" | "labels">

/** The policy's terms for a check that has reported; absent if no rule matches it. */
const termsByPolicy = (
  { policy, staleAfter }: InForce,
  { agent_id, hostname, labels }: Matched,
  check_id: CheckId,
  ofCheck: Labels | undefined,
): Terms | undefined => {
  const rule = policy().freshness.ruleOf({
    agent_id,
    check_id,
    hostname,
    labels: mergeLabels(labels, ofCheck),
  })
  return rule && completeTerms({ ...rule, notifications_enabled: true }, staleAfter, "unknown")
}

/** Whether a check may be expected by the policy: its sender does not say what is expected. */
const isLeftToPolicy = (expectation: ExpectationRecord | undefined): boolean =>
  expectation === undefined || expectation.origin === "policy" || expectation.origin === "run"

const isUnexpected = ({ is_of_place, withdrawn_at }: CheckRecord): boolean =>
  withdrawn_at !== undefined || is_of_place !== undefined

interface FoundCheck {
  readonly check_id: CheckId
  readonly expectation: ExpectationRecord | undefined
  readonly labels: Labels | undefined
}

/** Whether a check that has reported is expected as the policy, or its agent, wants it. */
const followsPolicy = (
  inForce: InForce,
  agent: Matched,
  { check_id, expectation, labels }: FoundCheck,
): boolean => {
  if (!isLeftToPolicy(expectation)) return true
  const terms = termsByPolicy(inForce, agent, check_id, labels)
  if (expectation?.origin !== "policy") return terms === undefined
  const { terms: present } = expectation
  return terms !== undefined && hasSameTerms(terms, present) && terms.incident === present.incident
}

/**
 * Makes the expectation of a check follow the policy once it has reported, unless its agent declares
 * it (docs/rules.md#expectations). Needs the check and its expectation.
 */
export function* followPolicy(
  incidents: Incidents,
  { agent, check_id }: { readonly agent: AgentRecord; readonly check_id: CheckId },
): Decision<void> {
  const { options, unit } = incidents
  const { agent_id, registration_id } = agent
  const ref = { agent_id, registration_id, check_id }
  const expectation = unit.expectations.get(ref)
  const check = unit.checks.get(ref)
  // Nothing expects a withdrawn one, nor one of a place.
  if (!isLeftToPolicy(expectation) || check === undefined || isUnexpected(check)) return
  const label = options.policy().freshness.count > 0 ? yield* loadRow(unit, "check_label", ref) : undefined
  const terms = termsByPolicy(options, agent, check_id, label?.labels)
  if (terms !== undefined) yield* expectCheck(incidents, { ref, origin: "policy", terms })
  else if (expectation?.origin === "policy") yield* withdrawExpectation(incidents, expectation)
}

const OVERDUE: ListQuery<"overdue"> = { ...ALL_CHECKS, list: "overdue" }

/** Makes the expectations of an agent's checks follow the policy in force. */
const evaluateChecks = commandOf(function* (
  unit,
  agent_id: AgentId,
  check_ids: ReadonlyArray<CheckId>,
  options: IncidentOptions,
) {
  yield* load(unit, { agents: [agent_id], checks: { agent_id, check_ids } })
  const agent = unit.agents.get(agent_id)
  if (agent === undefined) return
  const refs = checksOf(agent, check_ids)
  yield* load(unit, { rows: { check_label: refs, expectation: refs, reported_alert: refs } })
  const incidents = new Incidents(unit, options)
  for (const ref of refs) {
    const { check_id } = ref
    const isAlert = unit.of("reported_alert").get(ref) !== undefined
    if (!isAlert) yield* followPolicy(incidents, { agent, check_id })
  }
})

/** The checks whose expectations do not follow a policy, by agent. Of an alert, its sender alone expects reports. */
const findStraying = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  checks: ReadonlyArray<CheckRef>,
  inForce: InForce,
) {
  const expectationOf = findByCheck(yield* storage.rows("expectation", checks))
  const alertOf = findByCheck(yield* storage.rows("reported_alert", checks))
  const labelOf = findByCheck(yield* storage.rows("check_label", checks))
  const straying = new Map<AgentId, ReadonlyArray<CheckId>>()
  for (const [agentId, ofAgent] of Map.groupBy(checks, ({ agent_id }) => agent_id)) {
    const agent = yield* storage.agent(agentId)
    if (agent === undefined) continue
    const ids = ofAgent.flatMap((check) => {
      const { check_id } = check
      const found = { check_id, expectation: expectationOf(check), labels: labelOf(check)?.labels }
      return alertOf(check) !== undefined || followsPolicy(inForce, agent, found) ? [] : check_id
    })
    if (ids.length > 0) straying.set(agentId, ids)
  }
  return straying
})

// Checks follow another policy within 15 s.
const APPLY_EVERY = Duration.seconds(5)

/**
 * Makes all expectations follow the policy that has come into force. It starts over once labels or hostnames
 * have changed that rules compare.
 */
export const freshnessChore = (
  { commits, pieces: { rows: limit }, storage }: ChoreServices,
  { inForce, labels }: { readonly inForce: PolicyInForce["Service"]; readonly labels: FollowedLabels },
  incidents: IncidentOptions,
): Chore => {
  let last: { readonly policy: Policy; readonly labels: string } | undefined
  const begin = Effect.gen(function* () {
    const policy = inForce.current()
    const now = { policy, labels: policy.freshness.readsAgents ? yield* labels : "" }
    if (last?.policy === policy && last.labels === now.labels) return false
    // At the start: the rules of a former policy may have left overdue checks, and nothing else matters.
    const isNeeded =
      last !== undefined || policy.freshness.count > 0 || (yield* firstRows(storage, OVERDUE, 1)).length > 0
    last = now
    return isNeeded
  })
  const evaluate = Effect.fnUntraced(function* (rows: ReadonlyArray<CheckRecord>) {
    const present = rows.filter((check) => !isUnexpected(check))
    const straying = yield* findStraying(storage, present, incidents)
    for (const [agentId, checkIds] of straying)
      yield* commits.transact(evaluateChecks(agentId, checkIds, incidents))
  })
  return {
    name: "looking at checks under another policy",
    pause: idlePause(APPLY_EVERY),
    piece: passes(storage, ALL_CHECKS, { begin, limit, evaluate }),
  }
}

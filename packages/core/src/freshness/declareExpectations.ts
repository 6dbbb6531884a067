import { recognise } from "../admission/agentKeys.ts"
import type { AgentRecord } from "../admission/AgentRecord.ts"
import type { AgentId, CheckId, KeyHash } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import { move } from "../engine/TransitionTable.ts"
import type { Command, Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { dueTime, lookAfter } from "./dueTime.ts"
import { type ExpectationRecord, stateOf, type Terms } from "./ExpectationRecord.ts"
import { ExpectationTransitions } from "./ExpectationTransitions.ts"
import { leaveStale } from "./staleIncident.ts"

/** The checks that an agent declares, and its key. */
export interface Declaration {
  readonly agent_id: AgentId
  readonly key_hash: KeyHash
  /** No check twice. */
  readonly checks: ReadonlyArray<{ readonly check_id: CheckId; readonly terms: Terms }>
  /** Whether to withdraw the agent's other checks. */
  readonly isComplete: boolean
  readonly incidents: IncidentOptions
}

/** The result of a declaration; a refused one changes nothing. */
export type DeclarationOutcome =
  | { readonly outcome: "declared"; readonly expected: number; readonly withdrawn: number }
  | { readonly outcome: "agent_blocked" | "agent_not_accepted" }

/** Decides which checks of an agent are expected to report (docs/rules.md#freshness). */
export const declareExpectations = (input: Declaration): Command<DeclarationOutcome> =>
  function* (workspace, now) {
    const { agent_id, key_hash } = input
    const declared = new Set(input.checks.map(({ check_id }) => check_id))
    const found = yield* recognise(workspace, { agent_id, key_hash, check_ids: Array.from(declared) })
    if (found.standing === "blocked") return { outcome: "agent_blocked" }
    if (found.standing !== "accepted") return { outcome: "agent_not_accepted" }
    const { registration_id } = found.agent
    const expectations = { agent_id, check_ids: Array.from(declared) }
    yield* ensure(workspace, { expectations, expectationsOfAgents: [agent_id] })
    const before = workspace.expectations.group(registration_id)
    const withdrawn = input.isComplete ? before.filter(({ check_id }) => !declared.has(check_id)) : []
    const overdue = withdrawn.filter(({ incident_id }) => incident_id !== undefined)
    yield* ensure(workspace, { checks: { agent_id, check_ids: overdue.map(({ check_id }) => check_id) } })
    const incidents = new Incidents(workspace, now, input.incidents)
    for (const check of input.checks)
      yield* declare(workspace, incidents, { ...check, agent: found.agent, now })
    for (const expectation of withdrawn) yield* withdraw(workspace, incidents, expectation)
    const expected = workspace.expectations.group(registration_id).length
    return { outcome: "declared", expected, withdrawn: withdrawn.length }
  }

interface DeclaredCheck {
  readonly agent: AgentRecord
  readonly check_id: CheckId
  readonly terms: Terms
  readonly now: Instant
}

function* declare(
  workspace: Workspace,
  incidents: Incidents,
  { agent, check_id, now, terms }: DeclaredCheck,
): Decision<void> {
  const { agent_id, registration_id } = agent
  const ref = { agent_id, registration_id, check_id }
  const before = workspace.expectations.get(ref)
  if (before !== undefined && isEqual(before.terms, terms)) return
  const incident_id = before?.incident_id
  const due = dueTime({ expected_from: now, terms }, workspace.checks.get(ref)?.received_at)
  move(ExpectationTransitions, before === undefined ? "absent" : stateOf(before), "declared")
  workspace.expectations.put({
    ...ref,
    origin: "agent",
    terms,
    expected_from: now,
    incident_id,
    look_at: incident_id === undefined ? lookAfter(due) : undefined,
  })
  if (incident_id === undefined || before?.terms.severity === terms.severity) return
  const { notifications_enabled: notify, severity } = terms
  const member = { agent_id, check_id, incident_id }
  yield* ensure(workspace, { incidents: [incident_id], members: [member] })
  const summary = workspace.members.get(member)?.summary
  yield* incidents.change(incident_id, { member: { agent_id, check_id, severity, summary }, notify })
}

function* withdraw(
  workspace: Workspace,
  incidents: Incidents,
  expectation: ExpectationRecord,
): Decision<void> {
  const notify = expectation.terms.notifications_enabled
  move(ExpectationTransitions, stateOf(expectation), "withdrawn")
  yield* leaveStale(workspace, incidents, expectation, { by: "event", notify })
  workspace.expectations.delete(expectation)
}

const TERMS = [
  "every_millis",
  "after_millis",
  "cron",
  "tz",
  "grace_millis",
  "severity",
  "notifications_enabled",
] as const satisfies ReadonlyArray<keyof Terms>

const isEqual = (a: Terms, b: Terms): boolean => TERMS.every((name) => a[name] === b[name])

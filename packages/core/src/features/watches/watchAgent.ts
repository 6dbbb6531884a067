import { Duration } from "effect"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { type NewKey, openIntegration } from "../../heart/admission/openIntegration.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import { SYSTEM } from "../../kernel/ports/CurrentOperator.ts"
import type { Incidents } from "../../heart/incidents/Incidents.ts"
import type { WatchRecord } from "./WatchRecord.ts"
import { expectCheck, withdrawExpectation } from "../../heart/overdue/changeExpectation.ts"
import { completeTerms } from "../../heart/policy/decideTerms.ts"
import { HOLD_FOR } from "./placeDecisions.ts"

export interface WatchAgent {
  readonly name: AgentId
  /** An agent must have a key; this one is known to no program. */
  readonly newKey: () => NewKey
}

/**
 * Whether an accepted agent, or an integration of another kind, has the name. Changes nothing. A pending agent
 * is a key that anybody can send: it stops no server.
 */
export const isWatchAgentTaken = commandOf(function* (unit, name: AgentId) {
  yield* load(unit, { agents: [name], rows: { integration: [name] } })
  const integration = unit.of("integration").get(name)
  if (integration !== undefined) return integration.kind !== "watch"
  return unit.agents.get(name)?.admission_state === "accepted"
})

/**
 * The agent of the watches: that of an integration which the service creates with the first watch.
 * `closed` after its key was blocked, and until a new one opens it.
 */
export function* loadWatchAgent(unit: UnitOfWork, { name, newKey }: WatchAgent) {
  yield* load(unit, { agents: [name], rows: { integration: [name] } })
  const integration = unit.of("integration").get(name)
  const agent = unit.agents.get(name)
  if (integration !== undefined) return integration.kind === "watch" ? (agent ?? "closed") : "taken"
  if (agent !== undefined) return "taken"
  return openIntegration(unit, { name, kind: "watch", title: undefined, options: {} }, newKey(), SYSTEM).agent
}

interface Expecting {
  readonly agent: AgentRecord
  readonly watch: WatchRecord
}

/** A whole period late, with as many results unconfirmed, or held back, as may be. */
const longestGap = ({ confirm, every_millis }: WatchRecord): Duration.Duration =>
  Duration.sum(Duration.millis(every_millis * (Math.max(confirm.bad, confirm.good) + 2)), HOLD_FOR)

/** The check of a watch. */
export const checkOf = ({ agent_id, registration_id }: AgentRecord, { name }: Pick<WatchRecord, "name">) => ({
  agent_id,
  registration_id,
  check_id: name,
})

/** Loads the check of a watch with its expectation, and returns its reference. */
function* loadExpected(unit: UnitOfWork, { agent, watch }: Expecting) {
  const ref = checkOf(agent, watch)
  const { agent_id } = agent
  yield* load(unit, { checks: { agent_id, check_ids: [watch.name] }, rows: { expectation: [ref] } })
  return ref
}

/** Expects results of a watch: without any, its check becomes late. */
export function* expectWatch(incidents: Incidents, { agent, watch }: Expecting): Decision<void> {
  const ref = yield* loadExpected(incidents.unit, { agent, watch })
  const every = Duration.millis(watch.every_millis)
  const terms = completeTerms(
    { every, after: longestGap(watch), notifications_enabled: true },
    incidents.options.staleAfter,
  )
  yield* expectCheck(incidents, { ref, origin: "agent", terms })
}

/** Expects no results of a watch that is paused. */
export function* unexpectWatch(incidents: Incidents, expecting: Expecting): Decision<void> {
  const { unit } = incidents
  const expectation = unit.expectations.get(yield* loadExpected(unit, expecting))
  if (expectation?.origin === "agent") yield* withdrawExpectation(incidents, expectation)
}

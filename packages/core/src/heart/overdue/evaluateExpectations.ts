/// <reference lib="es2024.collection" />
import { Duration, Effect } from "effect"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { type Command, commandOf, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { reachableFrom } from "../liveness/agentStatus.ts"
import { lastOutage } from "../liveness/outage.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { checksOf } from "../../kernel/model/CheckRef.ts"
import { ExpectationTransitions } from "../model/ExpectationRecord.ts"
import type { EvaluatedName, KeyedRows } from "../../lists/StoredTables.ts"
import { evaluationAfter, judgeExpectation } from "./dueTime.ts"
import { lateText } from "./expectationText.ts"
import { followPolicy } from "./followPolicy.ts"
import { becomeOverdue } from "./overdueIncident.ts"

export interface EvaluateInput {
  readonly agentId: AgentId
  readonly checkIds: ReadonlyArray<CheckId>
  readonly outageEnd: Instant.Instant | undefined
  readonly incidents: IncidentOptions
}

type Contact = Pick<AgentRecord, "last_seen_at" | "reachable_from">

/** The agent of an integration is as alive as the service, which evaluates it now; its row says so less often. */
export const seenNow = (
  agent: AgentRecord,
  now: Instant.Instant,
  staleAfter: Duration.Duration,
): Contact => ({
  last_seen_at: now,
  reachable_from: reachableFrom(agent, now, staleAfter),
})

/** The contact of an agent for which a check waits. */
function* findContact(unit: UnitOfWork, agent: AgentRecord, staleAfter: Duration.Duration) {
  const integration = yield* loadRow(unit, "integration", agent.agent_id)
  return integration === undefined ? agent : seenNow(agent, unit.now, staleAfter)
}

/**
 * Evaluates expectations of one agent that may be overdue: these join their incident, the others are
 * evaluated again later. Ignores what changed since they were found. Safe with several replicas.
 */
export const evaluateExpectations = commandOf(function* (unit, input: EvaluateInput) {
  const { now } = unit
  const { agentId: agent_id, checkIds: check_ids } = input
  yield* load(unit, { agents: [agent_id], checks: { agent_id, check_ids } })
  const agent = unit.agents.get(agent_id)
  if (agent === undefined) return
  const refs = checksOf(agent, check_ids)
  const isLabelled = input.incidents.policy().freshness.count > 0
  yield* load(unit, { rows: { expectation: refs, ...(isLabelled && { check_label: refs }) } })
  const incidents = new Incidents(unit, input.incidents)
  const { staleAfter } = input.incidents
  for (const check_id of check_ids) {
    const ref = { agent_id, check_id, registration_id: agent.registration_id }
    const expectation = unit.expectations.get(ref)
    if (
      expectation === undefined ||
      expectation.next_evaluation_at === undefined ||
      expectation.next_evaluation_at > now
    )
      continue
    yield* followPolicy(incidents, { agent, check_id })
    // Another one is evaluated in its own time.
    if (unit.expectations.get(ref) !== expectation) continue
    const check = unit.checks.get(ref)
    const facts = { expectation, agent, check, outageEnd: input.outageEnd, staleAfter }
    const byRow = judgeExpectation(facts, now)
    const judged =
      byRow.verdict === "waiting"
        ? judgeExpectation({ ...facts, agent: yield* findContact(unit, agent, staleAfter) }, now)
        : byRow
    if (judged.verdict === "overdue") {
      const { due } = judged
      const text = lateText(check?.received_at, judged, input.incidents.policy().tz)
      yield* becomeOverdue(incidents, { expectation, due, text })
    }
    if (judged.verdict === "in_time") {
      move(ExpectationTransitions, "expected", "found_in_time")
      unit.expectations.put({ ...expectation, next_evaluation_at: evaluationAfter(judged.earliest) })
    }
  }
})

/** Agents at a time: storages that commit in groups fill them. */
const AT_A_TIME = 16

/** A late check joins its incident within 15 s (docs/rules.md#expectations). */
const EVALUATE_EVERY = Duration.seconds(5)

/** Evaluates every row of a table that is due now, page by page, those of an agent together. */
export const evaluationOfDue = <N extends EvaluatedName>(
  { commits, pieces: { rows: limit }, rules, storage }: ChoreServices,
  {
    incidents,
    name,
    table,
  }: { readonly name: string; readonly table: N; readonly incidents: IncidentOptions },
  evaluate: (input: EvaluateInput) => Command<void>,
): Chore => ({
  name,
  pause: idlePause(EVALUATE_EVERY),
  piece: Effect.gen(function* () {
    let after: KeyedRows[N] | undefined
    for (;;) {
      const now = yield* Instant.now
      const due = yield* storage.dueRows(table, { now, after, limit })
      if (due.length > 0) {
        const outageEnd = lastOutage(yield* storage.serviceHeartbeat, now, rules)?.ended_at
        yield* Effect.forEach(
          Map.groupBy(due, ({ agent_id }) => agent_id),
          ([agentId, found]) => {
            const checkIds = found.map(({ check_id }) => check_id)
            return commits.transact(evaluate({ agentId, checkIds, outageEnd, incidents }))
          },
          { concurrency: AT_A_TIME, discard: true },
        )
      }
      if (due.length < limit) return false
      after = due.at(-1)
    }
  }),
})

/** Finds overdue checks. An expectation that waits for its agent is due again at the next round. */
export const overdueChore = (services: ChoreServices, incidents: IncidentOptions): Chore =>
  evaluationOfDue(
    services,
    { name: "looking for late checks", table: "expectation", incidents },
    evaluateExpectations,
  )

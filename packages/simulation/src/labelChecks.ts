import type { AgentId } from "@tocsin/contract/Identifiers"
import { commandOf, type Decision } from "@tocsin/core/engine/unitOfWork/Decision"
import { load } from "@tocsin/core/engine/unitOfWork/load"
import { checksOf } from "@tocsin/core/model/CheckRecord"
import { labelCheck } from "@tocsin/core/overdue/labelCheck"
import type { LabelledCheck } from "./registrationOf.ts"

/** Gives checks of a known agent their labels. */
export const labelChecks = commandOf(function* (
  unit,
  now,
  agentId: AgentId,
  checks: ReadonlyArray<LabelledCheck>,
): Decision<void> {
  yield* load(unit, { agents: [agentId] })
  const agent = unit.agents.get(agentId)
  if (agent === undefined) return
  const refs = checksOf(
    agent,
    checks.map(({ check_id }) => check_id),
  )
  yield* load(unit, { rows: { expectation: refs } })
  refs.forEach((ref, index) => labelCheck(unit, ref, checks[index]?.labels, now))
})

import { Duration } from "effect"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { becomeOverdue } from "@tocsin/core/heart/overdue/overdueIncident"
import { lateText } from "@tocsin/core/heart/overdue/expectationText"
import { Incidents } from "@tocsin/core/heart/incidents/Incidents"
import type { IncidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import { checksOf } from "@tocsin/core/kernel/model/CheckRef"
import { commandOf, load } from "@tocsin/core/kernel/unitOfWork/Decision"

/** Finds declared checks late at once, as the service does when their time has come. */
export const becomeLate = commandOf(function* (
  unit,
  agent_id: AgentId,
  check_ids: ReadonlyArray<CheckId>,
  options: IncidentOptions,
) {
  yield* load(unit, { agents: [agent_id], checks: { agent_id, check_ids } })
  const agent = unit.agents.get(agent_id)
  if (agent === undefined) throw new Error(`no agent ${agent_id}`)
  const refs = checksOf(agent, check_ids)
  yield* load(unit, { rows: { expectation: refs } })
  const due = Instant.minus(unit.now, Duration.minutes(1))
  for (const ref of refs) {
    const expectation = unit.expectations.get(ref)
    if (expectation === undefined) throw new Error(`nothing expects ${ref.check_id}`)
    const text = lateText(unit.checks.get(ref)?.received_at, { due, longest: undefined })
    yield* becomeOverdue(new Incidents(unit, options), { expectation, due, text })
  }
})

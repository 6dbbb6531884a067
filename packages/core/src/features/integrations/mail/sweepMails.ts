import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { removeFound } from "../../../heart/checks/checkActions.ts"
import type { IncidentOptions } from "../../../heart/incidents/incidentOptions.ts"
import { Incidents } from "../../../heart/incidents/Incidents.ts"
import { evaluationAfter } from "../../../heart/overdue/dueTime.ts"
import { type EvaluateInput, evaluationOfDue } from "../../../heart/overdue/evaluateExpectations.ts"
import type { Chore, ChoreServices } from "../../../kernel/engine/commits/Chore.ts"
import { checksOf } from "../../../kernel/model/CheckRef.ts"
import { SYSTEM } from "../../../kernel/ports/CurrentOperator.ts"
import { load, loadRow, loneCommandOf } from "../../../kernel/unitOfWork/Decision.ts"
import { endCheck } from "../endCheck.ts"
import { dueAt, looksNext } from "./takeMail.ts"

/** The output of a check that became ok because no mail came about it. */
const noMailFor = (resolve_after = ""): string => `no mail for ${resolve_after}`

/** Ends or forgets checks of one integration that no mail reports any more (docs/rules.md#mail). */
const evaluateMails = loneCommandOf(function* (unit, input: EvaluateInput) {
  const { now } = unit
  const { agentId: agent_id, checkIds: check_ids, incidents } = input
  yield* load(unit, { agents: [agent_id], checks: { agent_id, check_ids } })
  const agent = unit.agents.get(agent_id)
  if (agent === undefined) return
  const refs = checksOf(agent, check_ids)
  yield* load(unit, { rows: { expectation: refs, mailed_check: refs } })
  const integration = yield* loadRow(unit, "integration", agent_id)
  const mailed = unit.of("mailed_check")
  for (const ref of refs) {
    const row = mailed.get(ref)
    if (row === undefined || row.next_evaluation_at > now) continue
    const check = unit.checks.get(ref)
    if (integration === undefined || check === undefined) {
      // Both go together: its agent is being deleted.
      mailed.put({ ...row, next_evaluation_at: Instant.plus(now, Duration.days(1)) })
      continue
    }
    const due = dueAt(check, row, integration.options)
    const current = unit.agents.get(agent_id) ?? agent
    if (due === undefined || due > now) {
      mailed.put({
        ...row,
        next_evaluation_at: due === undefined ? looksNext(due, now) : evaluationAfter(due),
      })
    } else if (check.status === "ok") {
      yield* removeFound(new Incidents(unit, incidents), current, check, SYSTEM)
    } else {
      const output = noMailFor(integration.options.resolve_after)
      yield* endCheck(unit, { agent: current, alert: undefined, check: ref, output, integration, incidents })
      const ended = unit.checks.get(ref)
      const next = ended && dueAt(ended, row, integration.options)
      mailed.put({ ...row, next_evaluation_at: looksNext(next, now) })
    }
  }
})

/** Finds checks whose mails have stopped, and that therefore become ok or are forgotten. */
export const mailsChore = (services: ChoreServices, incidents: IncidentOptions): Chore =>
  evaluationOfDue(
    services,
    { name: "looking at checks of mails", table: "mailed_check", incidents },
    evaluateMails,
  )

import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { Result } from "effect"
import type { Incidents } from "../../../heart/incidents/Incidents.ts"
import type { AgentRecord } from "../../../heart/model/AgentRecord.ts"
import { expectCheck, withdrawExpectation } from "../../../heart/overdue/changeExpectation.ts"
import type { Decision } from "../../../kernel/unitOfWork/Decision.ts"
import { load } from "../../../kernel/unitOfWork/load.ts"
import { declaredTerms } from "../expected.ts"
import { expectsOf } from "./decideMail.ts"
import { dueAt, looksNext } from "./takeMail.ts"

/** Expects the checks of an integration that mails report, and ends them, by changed options. Needs the agent. */
export function* followOptions(
  incidents: Incidents,
  { agent_id, registration_id }: Pick<AgentRecord, "agent_id" | "registration_id">,
  options: IntegrationOptions,
): Decision<void> {
  const { unit } = incidents
  const of = { agent_id, registration_id }
  yield* load(unit, { groups: { mailed_check: [of], expectation: [of] } })
  const mailed = unit.of("mailed_check")
  const rows = mailed.group(registration_id)
  yield* load(unit, { checks: { agent_id, check_ids: rows.map(({ check_id }) => check_id) } })
  const expects = expectsOf(options)
  for (const row of rows) {
    const check = unit.checks.get(row)
    if (check === undefined) continue
    mailed.put({ ...row, next_evaluation_at: looksNext(dueAt(check, row, options), unit.now) })
    if (row.is_by_subject) continue
    const expectation = unit.expectations.get(row)
    const terms =
      expects.by === "terms"
        ? declaredTerms(row, expects.terms, { kind: "mail", staleAfter: incidents.options.staleAfter })
        : undefined
    if (terms !== undefined && Result.isSuccess(terms) && terms.success !== undefined)
      yield* expectCheck(incidents, { ref: row, origin: "agent", terms: terms.success })
    else if (expectation?.origin === "agent") yield* withdrawExpectation(incidents, expectation)
  }
}

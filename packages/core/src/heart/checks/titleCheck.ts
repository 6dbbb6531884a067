import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { CheckName, CheckRef } from "../../kernel/model/CheckRef.ts"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import { auditedCheck } from "../model/AuditRecord.ts"
import { declaredLabels, titled, type Titles } from "../model/titles.ts"
import { evaluateLabelled } from "../overdue/declareExpectations.ts"
import { findCheck } from "./checkActions.ts"

/** Writes titles of a check. Another one that is shown starts the pass, since holds may compare it. */
function* putTitles(
  unit: UnitOfWork,
  ref: CheckRef,
  given: Titles,
  { newEventId, policy }: IncidentOptions,
): Decision<void> {
  const table = unit.of("check_label")
  const before = table.get(ref)
  const titles = { title: before?.title, given_title: before?.given_title, ...given }
  const { labels = {}, ...next } = titled(before && declaredLabels(before), titles)
  if (Object.keys(labels).length === 0 && next.declared_title === undefined) table.delete(ref)
  else table.put({ ...ref, ...next, labels, labelled_at: before?.labelled_at ?? unit.now })
  if (before?.labels["title"] === labels["title"]) return
  unit.raise("labels", newEventId)
  yield* evaluateLabelled(unit, [ref], policy())
}

/** Gives a check the title of its watch or integration, or takes that back (docs/rules.md#titles). */
export function* giveTitle(
  unit: UnitOfWork,
  { agent_id, check_id, registration_id }: CheckRef,
  given_title: string | undefined,
  options: IncidentOptions,
): Decision<void> {
  const ref = { agent_id, check_id, registration_id }
  yield* load(unit, {
    checks: { agent_id, check_ids: [check_id] },
    rows: { check_label: [ref], expectation: [ref] },
  })
  if (unit.of("check_label").get(ref)?.given_title !== given_title)
    yield* putTitles(unit, ref, { given_title }, options)
}

/** Gives a check an operator's title, or takes it back (docs/rules.md#titles). An equal one changes nothing. */
export const titleCheck = commandOf(function* (
  unit,
  name: CheckName,
  title: string | undefined,
  options: IncidentOptions,
  by: Signature,
) {
  const { agent, check } = yield* findCheck(unit, name)
  if (agent === undefined) return "no_such_agent"
  const ref = { ...name, registration_id: agent.registration_id }
  yield* load(unit, { rows: { check_label: [ref], expectation: [ref] } })
  if (check === undefined && unit.expectations.get(ref) === undefined) return "no_such_check"
  if (unit.of("check_label").get(ref)?.title === title) return 0
  yield* putTitles(unit, ref, { title }, options)
  recordAudit(unit, by, "check.titled", [auditedCheck(name)], { title: title ?? null })
  return 1
})

/** Writes titles of an agent, as those of a check. */
export const putAgentTitles = (
  unit: UnitOfWork,
  agent: AgentRecord,
  given: Titles,
  { newEventId }: Pick<IncidentOptions, "newEventId">,
): void => {
  const { given_title, title } = agent
  const next = { ...agent, ...titled(declaredLabels(agent), { title, given_title, ...given }) }
  unit.putAgent(next)
  if (agent.labels?.["title"] !== next.labels?.["title"]) unit.raise("labels", newEventId)
}

/** Gives an agent an operator's title, or takes it back. An equal one changes nothing. */
export const titleAgent = commandOf(function* (
  unit,
  agent_id: AgentId,
  title: string | undefined,
  options: IncidentOptions,
  by: Signature,
) {
  yield* load(unit, { agents: [agent_id] })
  const agent = unit.agents.get(agent_id)
  if (agent === undefined) return "no_such_agent"
  if (agent.title === title) return 0
  putAgentTitles(unit, agent, { title }, options)
  recordAudit(unit, by, "agent.titled", [agent_id], { title: title ?? null })
  return 1
})

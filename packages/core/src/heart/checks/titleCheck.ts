import type { CheckName } from "../../kernel/model/CheckRef.ts"
import { commandOf } from "../../kernel/unitOfWork/Decision.ts"
import { load } from "../../kernel/unitOfWork/load.ts"
import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { auditedCheck } from "../model/AuditRecord.ts"
import { declaredLabels } from "../model/CheckLabelRecord.ts"
import { evaluateLabelled } from "../overdue/declareExpectations.ts"
import { findCheck } from "./checkActions.ts"

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
  const table = unit.of("check_label")
  const before = table.get(ref)
  if (before?.title === title) return 0
  const declared = before === undefined ? {} : declaredLabels(before)
  const labels = title === undefined ? declared : { ...declared, title }
  if (Object.keys(labels).length === 0) table.delete(ref)
  else
    table.put({
      ...ref,
      labels,
      title,
      declared_title: title === undefined ? undefined : declared["title"],
      labelled_at: before?.labelled_at ?? unit.now,
    })
  unit.raise("labels", options.newEventId)
  yield* evaluateLabelled(unit, [ref], options.policy())
  recordAudit(unit, by, "check.titled", [auditedCheck(name)], { title: title ?? null })
  return 1
})

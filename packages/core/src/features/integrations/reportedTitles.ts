import type { Labels } from "@tocsin/contract/labels/Labels"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import type { Decision } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { giveTitle } from "../../heart/checks/titleCheck.ts"
import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import { declaredLabels, titleOf } from "../../heart/model/titles.ts"
import { labelCheck } from "../../heart/overdue/declareExpectations.ts"
import type { AnyReport } from "./Report.ts"
import type { IntegrationRecord } from "./IntegrationRecord.ts"

/** The title that the labels of an alert make; of other reports, the title that there is stays. */
const titleOfAlert = ({ kind }: Pick<IntegrationRecord, "kind">, labels: Labels | undefined) => {
  if (kind !== "alertmanager" && kind !== "webhook") return undefined
  const { alertname, instance } = labels ?? {}
  if (alertname === undefined || titleOf(labels) !== undefined) return { given_title: undefined }
  return { given_title: titleOf({ title: [alertname, instance].filter(Boolean).join(" ") }) }
}

/** Gives a check the labels of a report, if it has some. Whether they changed. */
export const relabels = (
  unit: UnitOfWork,
  of: Pick<IntegrationRecord, "kind">,
  ref: CheckRef,
  report: AnyReport,
): boolean =>
  "labels" in report && labelCheck(unit, ref, report.labels, titleOfAlert(of, report.labels)) === "changed"

/** The labels that a sender gave a check. */
export const labelsGiven = (unit: UnitOfWork, ref: CheckRef): Labels => {
  const row = unit.of("check_label").get(ref)
  return (row && declaredLabels(row)) ?? {}
}

/** Gives the check that the option `check` names the title of its integration, when it has come. */
export function* titleNew(
  unit: UnitOfWork,
  items: ReadonlyArray<{ readonly ref: CheckRef; readonly check: CheckRecord | undefined }>,
  {
    incidents,
    integration: { options, title },
  }: { readonly incidents: IncidentOptions; readonly integration: IntegrationRecord },
): Decision<void> {
  if (title === undefined) return
  for (const { check, ref } of items)
    if (check === undefined && ref.check_id === options.check) yield* giveTitle(unit, ref, title, incidents)
}

import type { CheckStatus, ShownState } from "@tocsin/contract/formats/Status"
import type { MetricCounts, SummaryCounts } from "../../kernel/ports/Storage.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"

/**
 * The state that people see of a check, by what it reported last, if it did: lists, counts, pages and messages all ask
 * here (docs/rules.md#late-checks).
 */
export const shownState = (
  check: Pick<CheckRecord, "status" | "withdrawn_at"> | undefined,
  { isLate }: { readonly isLate: boolean },
): ShownState | undefined =>
  isLate ? "late" : check?.withdrawn_at === undefined ? check?.status : "withdrawn"

/** Whether a check that has reported is late. */
export const isLate = (check: Pick<CheckRecord, "overdue_incident_id">): boolean =>
  check.overdue_incident_id !== undefined

/** How many checks are in each state, each counted once, without those of places. Two reads: a check may have changed between them. */
export const countStates = (
  counts: Pick<SummaryCounts, `checks_${CheckStatus}`>,
  { late, of_places, withdrawn }: Pick<MetricCounts, "late" | "of_places" | "withdrawn">,
): Readonly<Record<ShownState, number>> => {
  const inTime = (status: CheckStatus) =>
    [...late, ...of_places].reduce(
      (left, each) => (each.status === status ? Math.max(0, left - each.checks) : left),
      counts[`checks_${status}`],
    )
  return {
    ok: inTime("ok"),
    warning: inTime("warning"),
    critical: inTime("critical"),
    unknown: inTime("unknown"),
    late: late.reduce((sum, { checks }) => sum + checks, 0),
    withdrawn,
  }
}

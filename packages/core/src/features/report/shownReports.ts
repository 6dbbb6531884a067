import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyInForceState } from "@tocsin/contract/policy/PolicyInForce"
import { Effect } from "effect"
import type { Policy } from "../../heart/policy/compilePolicy.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { reportName } from "./MonthlyReportRecord.ts"
import { monthsAround } from "./monthlyDecisions.ts"
import { receiversOfReports } from "./monthlyReports.ts"

/** Adds to the receivers of a policy how the last report of a month went that was due. */
export const withReports = Effect.fnUntraced(function* (
  { rows }: Pick<Storage["Service"], "rows">,
  policy: Policy,
  state: PolicyInForceState,
) {
  const now = yield* Instant.now
  const months = new Map(
    receiversOfReports(policy).map((receiver) => [
      receiver,
      monthsAround(policy.readerOf(receiver).tz, now).last.month,
    ]),
  )
  if (months.size === 0) return state
  const names = Array.from(months, ([receiver, month]) => reportName({ receiver, month }))
  const found = new Map((yield* rows("monthly_report", names)).map((row) => [row.name, row]))
  return {
    ...state,
    receivers: state.receivers.map((receiver) => {
      const month = months.get(receiver.name) ?? ""
      const row = found.get(reportName({ receiver: receiver.name, month }))
      if (row === undefined) return receiver
      return { ...receiver, report: { month, state: row.state, last_error: row.last_error ?? null } }
    }),
  }
})

import { Effect } from "effect"
import { noSuch } from "../../kernel/engine/OperationErrors.ts"
import { agentNotFound } from "../admission/AdmissionErrors.ts"
import { type CheckActionOutcome, removeCheck, resetClock } from "../checks/checkActions.ts"
import type { CheckName } from "../../kernel/model/CheckRef.ts"
import { titleCheck } from "../checks/titleCheck.ts"
import type { OperationPorts } from "./operationPorts.ts"

/** How many checks an action changed, or the error that says why there is none. */
export const countOf = (outcome: CheckActionOutcome) => {
  if (typeof outcome === "number") return Effect.succeed({ count: outcome })
  return Effect.fail(outcome === "no_such_agent" ? agentNotFound() : noSuch("check_of_agent"))
}

/** Operators' actions on checks. */
export const checkOperations = ({ options, signed }: Pick<OperationPorts, "options" | "signed">) => ({
  /** Releases a check frozen by a clock in the future. */
  resetClock: (check: CheckName) =>
    Effect.flatMap(
      signed((by) => resetClock(check, by)),
      countOf,
    ),
  /** Gives a check a title, or takes it back. */
  titleCheck: (check: CheckName, title: string | undefined) =>
    Effect.flatMap(
      signed((by) => titleCheck(check, title, options, by)),
      countOf,
    ),
  /** Deletes one check; it leaves its incident. */
  removeCheck: (check: CheckName) =>
    Effect.flatMap(
      signed((by) => removeCheck(check, options, by)),
      countOf,
    ),
})

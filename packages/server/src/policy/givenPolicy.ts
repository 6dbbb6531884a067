import type { NotifierName } from "@tocsin/contract/Status"
import type { PolicyNotifiers } from "@tocsin/core/policy/compilePolicy"
import { Effect } from "effect"
import { BadPolicy } from "./BadPolicy.ts"
import { readPolicyFile } from "./readPolicyFile.ts"

/**
 * A policy that a command is given, without its secrets, and the receivers that it does not define:
 * `others` if it defines none.
 */
export const givenPolicy = Effect.fnUntraced(function* (
  file: string,
  others: ReadonlyArray<NotifierName>,
  watchProblem?: PolicyNotifiers["watchProblem"],
) {
  const policy = yield* Effect.mapError(
    readPolicyFile(file, { notifiers: others, keepsNotifiers: false, watchProblem }),
    (issues) => new BadPolicy({ file, issues }),
  )
  return { policy, notifiers: policy.receivers === undefined ? others : [] }
})

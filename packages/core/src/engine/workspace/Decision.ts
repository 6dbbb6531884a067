import type { Instant } from "../../contract/Instant.ts"
import type { RowRequest } from "./RowRequest.ts"
import type { Workspace } from "./Workspace.ts"

/**
 * A decision under way: pure and synchronous. It yields the rows that it must see next and goes on once the storage has
 * brought them into the workspace; its return value is the reply to its caller.
 */
export type Decision<A> = Generator<RowRequest, A, void>

/**
 * One change of the service's state: what Storage.transact runs. It may be run again from its start after a transient
 * failure, on a fresh workspace, so it keeps nothing outside of it.
 */
export type Command<A> = (workspace: Workspace, now: Instant) => Decision<A>

/** Runs a decision for a storage that can load synchronously. */
export const decideSync = <A>(decision: Decision<A>, load: (request: RowRequest) => void): A => {
  let step = decision.next()
  while (step.done !== true) {
    load(step.value)
    step = decision.next()
  }
  return step.value
}

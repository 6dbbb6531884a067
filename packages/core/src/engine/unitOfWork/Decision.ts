import type { Instant } from "@tocsin/contract/Instant"
import type { RowRequest } from "./RowRequest.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

/**
 * A decision in progress, pure and synchronous. It yields requests for rows, continues once the
 * storage has loaded them into the unit of work, and returns the reply.
 */
export type Decision<A> = Generator<RowRequest, A, void>

/**
 * One change of the service's state, for Storage.transact. A storage may run it again on a fresh
 * unit of work after a transient failure, so it keeps no state outside.
 */
export type Command<A> = (unit: UnitOfWork, now: Instant) => Decision<A>

/**
 * Makes commands of one kind. A function that returned a new generator function for each command would
 * cost more than most commands: V8 gives each of these a hidden class, which keeps the command's input
 * alive until the old generation is collected (docs/decisions/0030).
 */
export const commandOf =
  <Input extends ReadonlyArray<unknown>, A>(
    decide: (unit: UnitOfWork, now: Instant, ...input: Input) => Decision<A>,
  ) =>
  (...input: Input): Command<A> =>
  (unit, now) =>
    decide(unit, now, ...input)

/** Runs a decision for a storage that loads synchronously. */
export const decideSync = <A>(decision: Decision<A>, load: (request: RowRequest) => void): A => {
  let step = decision.next()
  while (step.done !== true) {
    load(step.value)
    step = decision.next()
  }
  return step.value
}

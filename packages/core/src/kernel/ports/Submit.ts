import { Clock, Effect } from "effect"
import type { Command, Outcome } from "../unitOfWork/Decision.ts"
import type { StorageError } from "./Storage.ts"

type Transact = <A>(command: Command<Outcome<A>>) => Effect.Effect<A, StorageError>

/**
 * `Storage.transact` for a caller that has no fiber: `resume` is called once, with the effect by which the command
 * ends. Mostly that is an exit; any other is to be run. Returns how to withdraw the command.
 */
export type Submit = <A>(
  command: Command<Outcome<A>>,
  clock: Clock.Clock,
  resume: (ended: Effect.Effect<A, StorageError>) => void,
) => () => void

const submits = new WeakMap<Transact, Submit>()

/** The same way without a fiber, if it has one. A storage that wraps `transact` has none, and is not passed by. */
export const submitOf = (transact: Transact): Submit | undefined => submits.get(transact)

/** A way that also takes commands without a fiber, if `submit` is given. */
export const withSubmit = (transact: Transact, submit: Submit | undefined): Transact => {
  if (submit !== undefined) submits.set(transact, submit)
  return transact
}

/** Both ways of a storage that calls back. */
export const transactBy = (submit: Submit): Transact =>
  withSubmit(
    (command) =>
      Clock.clockWith((clock) =>
        Effect.callback((resume) => {
          const withdraw = submit(command, clock, resume)
          return Effect.sync(withdraw)
        }),
      ),
    submit,
  )

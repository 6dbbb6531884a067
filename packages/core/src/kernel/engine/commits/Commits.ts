import { type Clock, Context, Effect, Exit, Layer, type Scope } from "effect"
import { ActTaken, CurrentAct, once } from "./actOnce.ts"
import { CurrentInstruments } from "../metrics/Instruments.ts"
import { Storage, type StorageError } from "../../ports/Storage.ts"
import { submitOf } from "../../ports/Submit.ts"
import type { CommandChanges } from "../../unitOfWork/Table.ts"
import { type Command, reporting } from "../../unitOfWork/Decision.ts"
import { storageMetrics } from "../metrics/storageMetrics.ts"

/** Functions that are called synchronously, in the order of the commits as this process sees them. They must not throw. */
export interface CommitListener {
  /** A command of this process was committed, with these changes; its caller may have stopped waiting. */
  readonly committed?: (changes: CommandChanges) => void
  /** A command of this process failed, or its caller stopped waiting for it. */
  readonly failed?: (error: StorageError) => void
}

type Rest<A> = readonly [clock: Clock.Clock, resume: (ended: Effect.Effect<A, StorageError>) => void]

/** The way of every command to the storage, and the one place where commits are observed. */
export class Commits extends Context.Service<
  Commits,
  {
    /**
     * Runs a command by `Storage.transact`, which reports it to the listeners, and returns its reply. Dies
     * with {@link ActTaken} where another request carries out the present act.
     */
    readonly transact: <A>(command: Command<A>) => Effect.Effect<A, StorageError>
    /** The same for a caller without a fiber, which has no act: see `Submit`. Absent where the storage has only the other. */
    readonly submit?: (<A>(command: Command<A>, ...rest: Rest<A>) => () => void) | undefined
    /** Adds a listener until the scope closes. */
    readonly listen: (listener: CommitListener) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@tocsin/core/kernel/engine/commits/Commits") {
  static readonly layer: Layer.Layer<Commits, never, Storage> = Layer.effect(
    Commits,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { storageFailures } = (yield* CurrentInstruments).of(storageMetrics)
      const listeners = new Set<CommitListener>()
      const reportFailure = (error: StorageError) =>
        Effect.sync(() => {
          storageFailures[error.reason].value += 1
          for (const listener of listeners) listener.failed?.(error)
        })
      const reportCommit = (changes: CommandChanges): void => {
        for (const listener of listeners) listener.committed?.(changes)
      }
      const run = <A>(command: Command<A>) =>
        Effect.tapError(storage.transact(reporting(command, reportCommit)), reportFailure)
      const submit = submitOf(storage.transact)
      return Commits.of({
        submit:
          submit &&
          ((command, clock, resume) =>
            submit(reporting(command, reportCommit), clock, (ended) =>
              resume(isSuccess(ended) ? ended : Effect.tapError(ended, reportFailure)),
            )),
        transact: (command) =>
          Effect.withFiber((fiber) => {
            const act = fiber.getRef(CurrentAct)
            if (act === undefined || act.isStored) return run(command)
            return Effect.flatMap(run(once(command, act)), (decided) => {
              if (decided.isTaken) return Effect.die(new ActTaken())
              act.isStored = decided.isStored
              return Effect.succeed(decided.reply)
            })
          }),
        listen: (listener) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => listeners.add(listener)),
              () => Effect.sync(() => listeners.delete(listener)),
            ),
          ),
      })
    }),
  )
}

/** Whether a command has ended well already. */
export const isSuccess = <A, E>(ended: Effect.Effect<A, E>): ended is Exit.Success<A, E> =>
  Exit.isExit(ended) && Exit.isSuccess(ended)

/** Whether it is not known what became of a commit. */
const isUnsettled = ({ isUnknown }: StorageError): boolean => isUnknown === true

/** Requests of agents and senders are safe to repeat, so an unsettled commit is decided again. */
export const repeatingUnsettled =
  ({ transact }: Pick<Commits["Service"], "transact">): Commits["Service"]["transact"] =>
  (command) =>
    Effect.catchIf(transact(command), isUnsettled, () => transact(command))

/**
 * The same for a caller without a fiber, where the storage has that: `goOn` makes the end of a call of the command's
 * reply, and `resume` is called once with it, mostly an exit. Returns how to withdraw the command.
 */
export const submittingUnsettled = ({ submit, transact }: Pick<Commits["Service"], "submit" | "transact">) =>
  submit &&
  (<A, B, E>(
    command: Command<A>,
    clock: Clock.Clock,
    goOn: (reply: A) => Effect.Effect<B, E | StorageError>,
    resume: (ended: Effect.Effect<B, E | StorageError>) => void,
  ) =>
    submit(command, clock, (ended) => {
      const settled = isSuccess(ended) ? ended : Effect.catchIf(ended, isUnsettled, () => transact(command))
      resume(isSuccess(settled) ? goOn(settled.value) : Effect.flatMap(settled, goOn))
    }))

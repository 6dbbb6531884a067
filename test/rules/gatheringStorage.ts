import type { Instant } from "@tocsin/contract/formats/Instant"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { type Command, lone, type LoneDecision, type Outcome } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { Deferred, Effect } from "effect"
import { transact } from "@tocsin/testing/transact"

type Waiting = (unit: UnitOfWork, now: Instant) => LoneDecision<Effect.Effect<unknown>>

/** A storage that holds commands back until a group of them is complete. */
export interface GatheringStorage {
  readonly storage: Storage["Service"]
  /**
   * From the next command on, this number makes a group. All of them must be submitted before the
   * first is answered.
   */
  readonly expect: (commands: number) => void
}

/**
 * Runs the commands of a group one after the other in a single transaction, as the storages do that
 * commit in groups.
 */
export const gatheringStorage = (storage: Storage["Service"]): GatheringStorage => {
  let waiting: Array<Waiting> = []
  let groupSize = 1
  const commit = Effect.suspend(() => {
    const group = waiting
    waiting = []
    const together = lone(function* (unit, now) {
      const answers: Array<Effect.Effect<unknown>> = []
      for (const decide of group) answers.push(yield* decide(unit, now))
      return answers
    })
    return transact(storage, together)
  })
  return {
    expect: (commands) => {
      groupSize = commands
    },
    storage: Storage.of({
      ...storage,
      transact: Effect.fnUntraced(function* <A>(command: Command<Outcome<A>>) {
        const answer = Deferred.makeUnsafe<A>()
        waiting.push(function* (unit, now) {
          const outcome = yield* command(unit, now)
          return Effect.suspend(() => Deferred.succeed(answer, outcome.committed()))
        })
        if (waiting.length >= groupSize) for (const tell of yield* commit) yield* tell
        return yield* Deferred.await(answer)
      }),
    }),
  }
}

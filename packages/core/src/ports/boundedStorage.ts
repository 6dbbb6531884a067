import { type Duration, Effect, Fiber, Layer } from "effect"
import { Storage, StorageError } from "./Storage.ts"

const timedOut = new StorageError({
  reason: "timed_out",
  message: "the storage did not answer in time; look at its load, its disk and its locks",
})

/**
 * A storage of which no caller waits longer than `limit` (SERVICE_STORAGE_TIMEOUT, decisions §1). A command that was given
 * up may still be kept: callers are told that it failed, and repeat it if it is safe to repeat.
 */
export const boundedStorage = (limit: Duration.Duration) =>
  Layer.effect(
    Storage,
    Effect.gen(function* () {
      const storage = yield* Storage
      const bounded = <A>(effect: Effect.Effect<A, StorageError>) => within(effect, limit)
      return Storage.of({
        ...storage,
        transact: (command) => bounded(storage.transact(command)),
        page: (request) => bounded(storage.page(request)),
        agent: (agentId) => bounded(storage.agent(agentId)),
        check: (agentId, checkId) => bounded(storage.check(agentId, checkId)),
        incident: (id, rows) => bounded(storage.incident(id, rows)),
        mark: bounded(storage.mark),
        counts: (aliveSince) => bounded(storage.counts(aliveSince)),
        silentAgents: (seenBefore, limitOfAgents) => bounded(storage.silentAgents(seenBefore, limitOfAgents)),
        agentsWithPendingKey: (after, limitOfAgents) =>
          bounded(storage.agentsWithPendingKey(after, limitOfAgents)),
        purge: (limitOfRows) => bounded(storage.purge(limitOfRows)),
        expire: (before, limitOfRows) => bounded(storage.expire(before, limitOfRows)),
        untilNextDue: (notifiers, now) => bounded(storage.untilNextDue(notifiers, now)),
        establish: (name, value) => bounded(storage.establish(name, value)),
      })
    }),
  )

/**
 * Unlike Effect.timeout does not wait for the end of what it interrupts: a statement is cancelled on a database that does
 * not answer, and that takes as long again. Interrupted itself, it does wait: the storage may be closed after it.
 */
const within = <A>(effect: Effect.Effect<A, StorageError>, limit: Duration.Duration) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const work = yield* Effect.forkDetach(effect, { startImmediately: true })
      const ended = work.pollUnsafe()
      if (ended !== undefined) return yield* ended
      const timer = yield* Effect.forkDetach(Effect.sleep(limit), { startImmediately: true })
      return yield* restore(firstOf(work, timer))
    }),
  )

const firstOf = <A>(
  work: Fiber.Fiber<A, StorageError>,
  timer: Fiber.Fiber<void>,
): Effect.Effect<A, StorageError> =>
  Effect.callback((resume) => {
    work.addObserver((exit) => {
      resume(exit)
      timer.interruptUnsafe()
    })
    timer.addObserver(() => {
      resume(Effect.fail(timedOut))
      work.interruptUnsafe()
    })
    return Fiber.interruptAll([timer, work])
  })

import { type Duration, Effect, Layer } from "effect"
import { Storage, StorageError } from "./Storage.ts"

/**
 * A storage of which no caller waits longer than `limit` (SERVICE_STORAGE_TIMEOUT, decisions §1). A command that was given
 * up may still be kept: callers are told that it failed, and repeat it if it is safe to repeat.
 */
export const boundedStorage = (limit: Duration.Duration) =>
  Layer.effect(
    Storage,
    Effect.gen(function* () {
      const storage = yield* Storage
      const bounded = <A>(effect: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> =>
        Effect.timeoutOrElse(effect, {
          duration: limit,
          orElse: () =>
            Effect.fail(
              new StorageError({
                reason: "timed_out",
                message: "the storage did not answer in time; look at its load, its disk and its locks",
              }),
            ),
        })
      return Storage.of({
        ...storage,
        transact: (command) => bounded(storage.transact(command)),
        page: (request) => bounded(storage.page(request)),
        agent: (agentId) => bounded(storage.agent(agentId)),
        check: (agentId, checkId) => bounded(storage.check(agentId, checkId)),
        incident: (id, rows) => bounded(storage.incident(id, rows)),
        mark: bounded(storage.mark),
        counts: (aliveSince) => bounded(storage.counts(aliveSince)),
        agentsWithPendingKey: (after, limitOfAgents) =>
          bounded(storage.agentsWithPendingKey(after, limitOfAgents)),
      })
    }),
  )

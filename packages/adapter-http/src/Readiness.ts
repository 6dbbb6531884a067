import { CurrentInstruments } from "@tocsin/core/metrics/Instruments"
import { Storage, type StorageError } from "@tocsin/core/ports/Storage"
import type { Command } from "@tocsin/core/workspace/Decision"
import { Context, Duration, Effect, Exit, Layer, Option, Schedule } from "effect"

const PROBE_INTERVAL = Duration.seconds(1)
const PROBE_LIMIT = Duration.millis(1500)

/** Whether the service can do its work (contract, ready; decisions §1). */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** The last result of the probe, and of the last write. Waits for nothing. */
    readonly isReady: Effect.Effect<boolean>
    /** The same of the storage alone: whether it answers and takes writes. */
    readonly isStorageUp: Effect.Effect<boolean>
    /** Whether the service is about to stop. Synchronous: every answer asks. */
    readonly isDraining: () => boolean
    /** Says that the service is about to stop: from now on it is not ready. The first step of a shutdown. */
    readonly drain: Effect.Effect<void>
  }
>()("@tocsin/adapter-http/Readiness") {
  /**
   * Watches a storage: a probe once a second in the background, each limited to 1.5 s, and each write. Use cases must
   * be built on the Storage that this layer provides, or refused writes go unseen.
   */
  static readonly layer: Layer.Layer<Readiness | Storage, never, Storage> = Layer.effectContext(
    Effect.gen(function* () {
      const storage = yield* Storage
      const { storageFailures } = yield* CurrentInstruments
      let canAnswer = false
      let hasSpace = true
      let draining = false
      const probe = Effect.map(Effect.timeoutOption(Effect.exit(storage.probe), PROBE_LIMIT), (exit) => {
        canAnswer = Option.isSome(exit) && Exit.isSuccess(exit.value)
      })
      yield* probe
      yield* Effect.forkScoped(Effect.repeat(Effect.delay(probe, PROBE_INTERVAL), Schedule.forever))

      const noteFailure = (error: StorageError) =>
        Effect.sync(() => {
          storageFailures[error.reason].value += 1
          if (error.reason === "full") hasSpace = false
        })
      const transactWithoutSpace = <A>(command: Command<A>) =>
        Effect.suspend(() => {
          let isWrite = false
          const observed: Command<A> = function* (workspace, now) {
            const reply = yield* command(workspace, now)
            isWrite = Object.values(workspace.changes()).some((rows) => rows.length > 0)
            return reply
          }
          return Effect.tap(Effect.tapError(storage.transact(observed), noteFailure), () =>
            Effect.sync(() => {
              // What wrote nothing proves nothing.
              if (isWrite) hasSpace = true
            }),
          )
        })
      const watched = Storage.of({
        ...storage,
        transact: (command) =>
          Effect.suspend(() =>
            hasSpace
              ? Effect.tapError(storage.transact(command), noteFailure)
              : transactWithoutSpace(command),
          ),
      })
      return Context.make(
        Readiness,
        Readiness.of({
          isReady: Effect.sync(() => canAnswer && hasSpace && !draining),
          isStorageUp: Effect.sync(() => canAnswer && hasSpace),
          isDraining: () => draining,
          drain: Effect.sync(() => {
            draining = true
          }),
        }),
      ).pipe(Context.add(Storage, watched))
    }),
  )
}

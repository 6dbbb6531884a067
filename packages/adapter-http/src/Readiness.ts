import { CurrentInstruments } from "@tocsin/core/engine/metrics/Instruments"
import type { Command } from "@tocsin/core/engine/workspace/Decision"
import { leaveMark } from "@tocsin/core/liveness/outage"
import { idlePause } from "@tocsin/core/ports/IdlePause"
import { Policy } from "@tocsin/core/ports/Policy"
import { Storage, type StorageError, type StorageFailure } from "@tocsin/core/ports/Storage"
import { Context, Duration, Effect, Exit, Layer, Option } from "effect"

const PROBE_INTERVAL = Duration.seconds(1)
const PROBE_LIMIT = Duration.millis(1500)

/** What is known of the storage's writes. */
type Writes =
  /** The last one was kept, or nothing speaks against it. */
  | "kept"
  /** The storage was lost; who answers again need not take writes. */
  | "in doubt"
  /** The last one was refused for want of space. */
  | "refused"

/** A write that fails so tells that the storage, or the way to it, is not what it was. */
const DOUBTFUL: ReadonlySet<StorageFailure> = new Set(["unavailable", "read_only", "damaged"])

/** What a failed write makes of what was known. Who waited in vain for a lock, for instance, has learned nothing. */
const afterFailure = (writes: Writes, reason: StorageFailure): Writes => {
  if (reason === "full") return "refused"
  return writes === "kept" && DOUBTFUL.has(reason) ? "in doubt" : writes
}

/** Whether the service can do its work. */
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
   * Watches a storage: a probe once a second in the background, each limited to 1.5 s, and each write. After a loss a
   * write has to succeed, not only a probe; where none comes, the service's mark is one. Use cases must be built on the
   * Storage that this layer provides, or failed writes go unseen.
   */
  static readonly layer: Layer.Layer<Readiness | Storage, never, Storage> = Layer.effectContext(
    Effect.gen(function* () {
      const storage = yield* Storage
      const { storageFailures } = yield* CurrentInstruments
      let canAnswer = false
      let writes: Writes = "kept"
      let draining = false
      const probe = Effect.map(Effect.timeoutOption(Effect.exit(storage.probe), PROBE_LIMIT), (exit) => {
        canAnswer = Option.isSome(exit) && Exit.isSuccess(exit.value)
        if (!canAnswer) writes = afterFailure(writes, "unavailable")
      })

      const noteFailure = (error: StorageError) =>
        Effect.sync(() => {
          storageFailures[error.reason].value += 1
          writes = afterFailure(writes, error.reason)
        })
      const transactInDoubt = <A>(command: Command<A>) =>
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
              if (isWrite) writes = "kept"
            }),
          )
        })
      const watched = Storage.of({
        ...storage,
        transact: (command) =>
          Effect.suspend(() =>
            writes === "kept"
              ? Effect.tapError(storage.transact(command), noteFailure)
              : transactInDoubt(command),
          ),
      })
      const mark = Effect.exit(watched.transact(leaveMark(yield* Policy)))
      const watch = Effect.andThen(
        probe,
        Effect.suspend(() => (canAnswer && writes === "in doubt" ? mark : Effect.void)),
      )
      yield* probe
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(idlePause(PROBE_INTERVAL), watch)))
      return Context.make(
        Readiness,
        Readiness.of({
          isReady: Effect.sync(() => canAnswer && writes === "kept" && !draining),
          isStorageUp: Effect.sync(() => canAnswer && writes === "kept"),
          isDraining: () => draining,
          drain: Effect.sync(() => {
            draining = true
          }),
        }),
      ).pipe(Context.add(Storage, watched))
    }),
  )
}

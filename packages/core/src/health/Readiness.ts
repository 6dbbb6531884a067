import { Context, Duration, Effect, Exit, Latch, Layer, Option } from "effect"
import { Commits } from "../engine/commits/Commits.ts"
import { writeServiceHeartbeat } from "../liveness/outage.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage, type StorageFailure } from "../ports/Storage.ts"

const PROBE_INTERVAL = Duration.seconds(1)
const PROBE_LIMIT = Duration.millis(1500)

/** The last known state of the storage's writes. */
type Writes =
  /** The last one succeeded, or none has failed. */
  | "kept"
  /** The storage was lost; one that answers again may still refuse writes. */
  | "in doubt"
  /** The last one found the disk full. */
  | "refused"

/** Failures of a write that cast doubt on the next one. */
const DOUBTFUL: ReadonlySet<StorageFailure> = new Set(["unavailable", "read_only", "damaged"])

/** The state after a failed write. A lock that was not free in time, for instance, proves nothing. */
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
    /** Whether the service is about to stop. Synchronous: every response asks. */
    readonly isDraining: () => boolean
    /** The first step of a shutdown: from now on the service is not ready. */
    readonly drain: Effect.Effect<void>
    /** Waits for that step. */
    readonly draining: Effect.Effect<void>
  }
>()("@tocsin/core/health/Readiness") {
  /**
   * Probes the storage once a second, each time for at most 1.5 s, and listens for failed writes.
   * After a loss a write has to succeed, not only a probe; where none comes, Readiness writes the
   * service heartbeat.
   */
  static readonly layer: Layer.Layer<Readiness, never, Commits | Storage> = Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const storage = yield* Storage
      const commits = yield* Commits
      let canAnswer = false
      let writes: Writes = "kept"
      let isDraining = false
      const draining = Latch.makeUnsafe()
      yield* commits.listen({
        committed: ({ isWrite }) => {
          if (isWrite) writes = "kept"
        },
        failed: ({ reason }) => {
          writes = afterFailure(writes, reason)
        },
      })
      const probe = Effect.map(Effect.timeoutOption(Effect.exit(storage.probe), PROBE_LIMIT), (exit) => {
        canAnswer = Option.isSome(exit) && Exit.isSuccess(exit.value)
        if (!canAnswer) writes = afterFailure(writes, "unavailable")
      })
      const serviceHeartbeat = Effect.exit(commits.transact(writeServiceHeartbeat(yield* RuleSettings)))
      const watch = Effect.andThen(
        probe,
        Effect.suspend(() => (canAnswer && writes === "in doubt" ? serviceHeartbeat : Effect.void)),
      )
      yield* probe
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(idlePause(PROBE_INTERVAL), watch)))
      return Readiness.of({
        isReady: Effect.sync(() => canAnswer && writes === "kept" && !isDraining),
        isStorageUp: Effect.sync(() => canAnswer && writes === "kept"),
        isDraining: () => isDraining,
        drain: Effect.sync(() => {
          isDraining = true
          draining.openUnsafe()
        }),
        draining: draining.await,
      })
    }),
  )
}

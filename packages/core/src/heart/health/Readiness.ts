import { Context, Duration, Effect, Exit, Latch, Layer, Option } from "effect"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { writeServiceHeartbeat } from "../liveness/outage.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Storage, type StorageFailure } from "../../kernel/ports/Storage.ts"

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

/**
 * Whether the service can do its work. It probes the storage once a second, each time for at most 1.5 s, and
 * listens for failed writes. After a loss a write has to succeed, not only a probe; where none comes, it
 * writes the service heartbeat.
 */
export class Readiness extends Context.Service<Readiness>()("@tocsin/core/heart/health/Readiness", {
  make: Effect.gen(function* () {
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
    return {
      /** The last result of the probe, and of the last write. Waits for nothing. */
      isReady: Effect.sync(() => canAnswer && writes === "kept" && !isDraining),
      /** The same of the storage alone: whether it answers and takes writes. */
      isStorageUp: Effect.sync(() => canAnswer && writes === "kept"),
      /** Whether the service is about to stop. Synchronous: every response asks. */
      isDraining: () => isDraining,
      /** The first step of a shutdown: from now on the service is not ready. */
      drain: Effect.sync(() => {
        isDraining = true
        draining.openUnsafe()
      }),
      /** Waits for that step. */
      draining: draining.await,
    }
  }),
}) {
  static readonly layer = Layer.effect(Readiness, Readiness.make)
}

import { Context, Duration, Effect, Layer, Queue, Stream } from "effect"
import * as Instant from "../contract/Instant.ts"
import { Commits } from "../engine/commits/Commits.ts"
import type { PolicyDocument } from "../policy/PolicyDocument.ts"
import { policyHash } from "../policy/policyHash.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Hashing } from "../ports/Hashing.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { Ids } from "../ports/Ids.ts"
import { policyHashes, REPORT_EVERY } from "../replicas/listings.ts"
import { endReplica, reportReplica } from "../replicas/replicaDecisions.ts"
import type { ReplicaRecord } from "../replicas/ReplicaRecord.ts"

/** The version that this process reports; a host program's own is not known here. */
export const ReplicaVersion = Context.Reference<string>("@tocsin/core/usecases/ReplicaVersion", {
  defaultValue: () => "embedded",
})

// The others see within a minute that this process is gone, and a stop must not wait for a storage.
const FAREWELL_WITHIN = Duration.seconds(1)
// Often enough to be noticed in a log, too rare to fill it.
const WARN_EVERY = Duration.minutes(10)

const DIFFERENT =
  "servers of this installation follow different policies: reload or restart those that differ"
const EQUAL = "all servers of this installation follow the same policy again"

/**
 * Reports this process in its row until the layer closes, and compares its policy with those of the
 * other live replicas (docs/rules.md#replicas).
 */
export const layer: Layer.Layer<never, never, Commits | Ids | Hashing | PolicyInForce> = Layer.effectDiscard(
  Effect.gen(function* () {
    const commits = yield* Commits
    const policy = yield* PolicyInForce
    const hashing = yield* Hashing
    const started_at = yield* Instant.now
    const id = (yield* Ids).uuidV7(started_at)
    const version = yield* ReplicaVersion
    const compare = yield* makeComparison
    // Hashing a large policy takes milliseconds.
    let hashed: { readonly document: PolicyDocument; readonly policy_hash: string } | undefined
    const report = Effect.suspend(() => {
      const { document, receivers } = policy.current()
      if (hashed?.document !== document) hashed = { document, policy_hash: policyHash(document, hashing) }
      const { policy_hash } = hashed
      return commits.transact(
        reportReplica({ id, version, policy_hash, started_at, receivers: Array.from(receivers.keys()) }),
      )
    }).pipe(
      Effect.flatMap(compare),
      Effect.catchCause((cause) =>
        Effect.logWarning("this server cannot report its policy to the others; Tocsin will retry", cause),
      ),
    )
    const replaced = yield* Stream.toQueue(policy.replaced, { capacity: "unbounded" })
    yield* Effect.addFinalizer(() =>
      commits.transact(endReplica(id)).pipe(Effect.timeoutOption(FAREWELL_WITHIN), Effect.ignore),
    )
    const pause = Effect.race(idlePause(REPORT_EVERY), Queue.take(replaced))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(report, pause)))
  }),
)

/** Warns while the policies of live replicas differ, and says so once they no longer do. */
const makeComparison = Effect.sync(() => {
  let warned: { readonly about: string; readonly at: Instant.Instant } | undefined
  return Effect.fnUntraced(function* (live: ReadonlyArray<ReplicaRecord>) {
    const hashes = policyHashes(live)
    const now = yield* Instant.now
    if (hashes.length > 1) {
      const about = hashes.join()
      if (warned?.about === about && now < Instant.plus(warned.at, WARN_EVERY)) return
      warned = { about, at: now }
      const replicas = live.map(({ policy_hash, version }) => `${policy_hash.slice(0, 8)} (${version})`)
      yield* Effect.annotateLogs(Effect.logWarning(DIFFERENT), { policies: replicas.toSorted().join(", ") })
    } else if (warned !== undefined) {
      warned = undefined
      yield* Effect.logInfo(EQUAL)
    }
  })
})

import { Cause, Deferred, type Duration, Effect, Exit, Random } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { Commits } from "../engine/commits/Commits.ts"
import type { StorageError } from "../ports/Storage.ts"
import {
  type AttemptResult,
  type Claim,
  type EndedAttempt,
  needsIncident,
  recordResults,
  type Recorded,
} from "./recordResults.ts"

interface Waiting {
  readonly attempt: EndedAttempt
  readonly stored: Deferred.Deferred<Recorded, StorageError>
}

/** Results that one transaction stores at most. */
const AT_ONCE = 256

const BETWEEN_TRIES = "1 second"

/**
 * Makes the functions that store the results of attempts. Deliveries that end while others are being
 * stored are stored together: a transaction costs more than a result. While the storage is
 * unreachable they retry for as long as the claim can hold: a lost result makes the receiver get the
 * same message twice.
 */
export const makeStoreResults = Effect.fnUntraced(function* (lease: Duration.Duration) {
  const commits = yield* Commits
  const waiting: Array<Waiting> = []
  let isStoring = false

  const store = (attempts: ReadonlyArray<EndedAttempt>) => commits.transact(recordResults(attempts))
  const storeWaiting = Effect.gen(function* () {
    // Attempts that end in the same turn.
    yield* Effect.yieldNow
    while (waiting.length > 0) {
      const together = waiting.splice(0, AT_ONCE)
      const settled = yield* Effect.exit(store(together.map(({ attempt }) => attempt)))
      for (const [index, { stored }] of together.entries())
        Deferred.doneUnsafe(
          stored,
          Exit.map(settled, (recorded) => recorded[index] ?? "lost"),
        )
    }
    isStoring = false
  }).pipe(Effect.uninterruptible)
  const storeTogether = (attempt: EndedAttempt) =>
    Effect.suspend(() => {
      const stored = Deferred.makeUnsafe<Recorded, StorageError>()
      waiting.push({ attempt, stored })
      if (isStoring) return Deferred.await(stored)
      isStoring = true
      return Effect.andThen(storeWaiting, Deferred.await(stored))
    })
  // A defect of one result must not take others with it, nor the locks of one incident those of others.
  const storeAlone = (attempt: EndedAttempt) =>
    Effect.map(store([attempt]), ([recorded = "lost"]) => recorded)

  const insist = Effect.fnUntraced(function* (attempt: EndedAttempt) {
    const giveUpAt = Instant.plus(yield* Instant.now, lease)
    let settled = yield* Effect.exit(needsIncident(attempt) ? storeAlone(attempt) : storeTogether(attempt))
    while (Exit.isFailure(settled)) {
      if ((yield* Instant.now) >= giveUpAt) {
        yield* Effect.logWarning(
          "cannot store the result of an attempt; repeating the attempt",
          settled.cause,
        )
        return "lost"
      }
      yield* Effect.interruptible(Effect.sleep(BETWEEN_TRIES))
      const isAlone = needsIncident(attempt) || Cause.hasDies(settled.cause)
      settled = yield* Effect.exit(isAlone ? storeAlone(attempt) : storeTogether(attempt))
    }
    return settled.value
  })

  return {
    storeResult: (claim: Claim, result: AttemptResult) =>
      Effect.flatMap(Random.next, (random) => insist({ claim, result, random })),
    /** Stores the result of one message at one moment: its items are due again as one message. */
    storeDigestResult: Effect.fnUntraced(function* (claims: ReadonlyArray<Claim>, result: AttemptResult) {
      const random = yield* Random.next
      const attempts = claims.map((claim) => ({ claim, result, random }))
      const settled = yield* Effect.exit(store(attempts))
      if (Exit.isSuccess(settled)) return settled.value
      return yield* Effect.forEach(attempts, insist, { concurrency: AT_ONCE })
    }),
  }
})

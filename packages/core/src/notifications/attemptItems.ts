import { Duration, Effect, type Fiber, Latch, Semaphore, Cause, Deferred, Exit, Random } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { LinkedQueue } from "../engine/LinkedQueue.ts"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import type { NotifierName } from "@tocsin/contract/Status"
import type { Notifier } from "../ports/Notifiers.ts"
import type { ClaimedItem } from "./claimOutbox.ts"
import type { DeliveryAttempt } from "../ports/DeliveryAttempt.ts"
import { digestAttempt } from "./digest.ts"
import { makeMessageLinks } from "./messageLinks.ts"
import { Receivers } from "./Receivers.ts"
import { makeAttempt } from "./makeAttempt.ts"
import {
  type AttemptResult,
  type Recorded,
  type Claim,
  type EndedAttempt,
  needsIncident,
  recordResults,
} from "./recordResults.ts"
import { Commits } from "../engine/commits/Commits.ts"
import type { StorageError } from "../ports/Storage.ts"

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

/** A claimed item whose turn has not come. */
interface WaitingAttempt {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly beginBy: Instant.Instant
}

interface AttemptsInput extends Pick<Notifier, "kind"> {
  readonly receiver: NotifierName
  /** How long a claim holds. */
  readonly lease: Duration.Duration
  /** How many attempts may run at the same time; a reload may change it. */
  readonly concurrency: () => number
}

/** Turns at a receiver, as many at the same time as it allows, for as long as the caller runs. */
const makePermits = Effect.fnUntraced(function* (concurrency: () => number) {
  const permits = Semaphore.makeUnsafe(concurrency())
  const waiting = new LinkedQueue<WaitingAttempt>()
  const isAnyWaiting = Latch.makeUnsafe()
  const interruptLate = Effect.gen(function* () {
    yield* isAnyWaiting.await
    const { first } = waiting
    if (first === undefined) return isAnyWaiting.closeUnsafe()
    const left = Duration.micros(first.beginBy - (yield* Instant.now))
    if (Duration.isGreaterThan(left, Duration.zero)) return yield* Effect.sleep(left)
    waiting.take()
    return first.fiber.interruptUnsafe()
  })
  yield* Effect.forkChild(Effect.forever(interruptLate))
  return {
    /** Runs an effect when its turn comes; interrupts the fiber if that is not by `beginBy`. */
    take: <A>(effect: Effect.Effect<A>, beginBy: Instant.Instant | undefined): Effect.Effect<A> =>
      Effect.withFiber((fiber) => {
        if (beginBy === undefined) return permits.withPermit(effect)
        const place = waiting.add({ fiber, beginBy })
        isAnyWaiting.openUnsafe()
        const leave = Effect.sync(() => place.leave())
        return Effect.ensuring(permits.withPermit(Effect.andThen(leave, effect)), leave)
      }),
    /** Follows the concurrency. */
    resize: Effect.suspend(() => permits.resize(concurrency())),
  }
})

/** The attempts at one receiver. */
export const makeAttempts = Effect.fnUntraced(function* ({
  concurrency,
  kind,
  lease,
  receiver,
}: AttemptsInput) {
  const receivers = yield* Receivers
  const { storeDigestResult, storeResult } = yield* makeStoreResults(lease)
  const givenUp = (yield* CurrentInstruments).givenUp.of(kind)
  const turns = yield* makePermits(concurrency)
  const linksOf = yield* makeMessageLinks
  let slowest: Duration.Duration | undefined

  // A reload may remove a receiver while its items wait.
  const current = () => receivers.current().get(receiver)

  const note = (recorded: Recorded) => {
    if (recorded === "given_up") givenUp.value++
  }
  const end = ({ claim }: ClaimedItem, result: AttemptResult) =>
    Effect.map(storeResult({ ...claim, notifier: current()?.kind ?? claim.notifier }, result), note)
  const sendTimed = Effect.fnUntraced(function* (notification: DeliveryAttempt) {
    const sending = current()?.send({ ...notification, links: linksOf(notification) })
    const [took, result] = yield* Effect.timed(sending ?? Effect.interrupt)
    slowest = slowest === undefined ? took : Duration.max(slowest, took)
    return result
  })
  /** Attempts an item when its turn comes, by `beginBy` at the latest, and settles it. */
  const attempt = (item: ClaimedItem, beginBy?: Instant.Instant) =>
    Effect.suspend(() => {
      let isBegun = false
      const begin = Effect.suspend(() => {
        isBegun = current() !== undefined
        return sendTimed(item.notification)
      })
      return Effect.flatMap(makeAttempt(turns.take(begin, beginBy)), (result) =>
        end(item, isBegun ? result : { outcome: "unsent" }),
      )
    })
  /** Attempts items of one type as one message; see {@link digestAttempt}. */
  const attemptDigest = (items: ReadonlyArray<ClaimedItem>, onRefused: () => void) => {
    const sendDigest = current()?.sendDigest
    return digestAttempt(items, {
      sendDigest: sendDigest && ((notifications) => turns.take(sendDigest(notifications), undefined)),
      attempt,
      end: (result) =>
        Effect.map(
          storeDigestResult(
            items.map(({ claim }) => claim),
            result,
          ),
          (recorded) => recorded.forEach(note),
        ),
      onRefused,
    })
  }

  return {
    attempt,
    attemptDigest,
    resize: turns.resize,
    /** The longest attempt since this was last asked; absent if none ended. */
    takeSlowest: () => {
      const taken = slowest
      slowest = undefined
      return taken
    },
  }
})

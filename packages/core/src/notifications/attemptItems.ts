import { Duration, Effect, type Fiber, Latch, Semaphore } from "effect"
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
import type { AttemptResult, Recorded } from "./recordResults.ts"
import { makeStoreResults } from "./storeResults.ts"

/** A claimed item whose turn has not come. */
interface Waiting {
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
  const waiting = new LinkedQueue<Waiting>()
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

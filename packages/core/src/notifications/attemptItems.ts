import { Duration, Effect, Semaphore } from "effect"
import * as Instant from "../contract/Instant.ts"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import type { NotifierName } from "../contract/Status.ts"
import type { Notifier } from "../ports/Notifiers.ts"
import type { ClaimedItem } from "./claimOutbox.ts"
import type { DeliveryAttempt } from "./DeliveryAttempt.ts"
import { digestAttempt } from "./digest.ts"
import { Receivers } from "./Receivers.ts"
import { resultOf } from "./resultOf.ts"
import type { AttemptResult } from "./settleAttempt.ts"
import { makeStoreResult } from "./storeResults.ts"

interface AttemptsInput extends Pick<Notifier, "kind"> {
  readonly receiver: NotifierName
  /** How long a claim holds. */
  readonly lease: Duration.Duration
  /** How many attempts may run at the same time; a reload may change it. */
  readonly concurrency: () => number
}

/** The attempts at one receiver, as many at the same time as it allows. */
export const makeAttempts = Effect.fnUntraced(function* ({
  concurrency,
  kind,
  lease,
  receiver,
}: AttemptsInput) {
  const receivers = yield* Receivers
  const settle = yield* makeStoreResult(lease)
  const givenUp = (yield* CurrentInstruments).givenUp.of(kind)
  const permits = Semaphore.makeUnsafe(concurrency())
  let slowest: Duration.Duration | undefined

  // A reload may have removed the receiver since the claim, which then releases the item.
  const send: Notifier["send"] = (notification) =>
    receivers.current().get(receiver)?.send(notification) ?? Effect.interrupt

  const end = (item: ClaimedItem, result: AttemptResult) =>
    Effect.tap(settle(item.claim, result), (settlement) =>
      Effect.sync(() => settlement === "given_up" && givenUp.value++),
    )
  const sendTimed = Effect.fnUntraced(function* (notification: DeliveryAttempt) {
    const [took, result] = yield* Effect.timed(send(notification))
    slowest = slowest === undefined ? took : Duration.max(slowest, took)
    return result
  })
  /** Attempts an item and settles it. Waits for its turn, and withdraws it if that comes too late. */
  const attempt = (item: ClaimedItem, beginBy?: Instant.Instant) =>
    Effect.suspend(() => {
      let isBegun = false
      const begin = Effect.flatMap(Instant.now, (now) => {
        isBegun = beginBy === undefined || now < beginBy
        return isBegun ? sendTimed(item.notification) : Effect.interrupt
      })
      return Effect.flatMap(resultOf(permits.withPermit(begin)), (result) =>
        end(item, isBegun ? result : { outcome: "unsent" }),
      )
    })
  /** Attempts items of one type as one message. */
  const attemptDigest = (items: ReadonlyArray<ClaimedItem>) => {
    const sendDigest = receivers.current().get(receiver)?.sendDigest
    return digestAttempt(items, {
      sendDigest: sendDigest && ((notifications) => permits.withPermit(sendDigest(notifications))),
      attempt: (item) => attempt(item),
      end,
      lease,
      concurrency: concurrency(),
    })
  }

  return {
    attempt,
    attemptDigest,
    /** Follows the concurrency. */
    resize: Effect.suspend(() => permits.resize(concurrency())),
    /** The longest attempt since this was last asked; absent if none ended. */
    takeSlowest: () => {
      const taken = slowest
      slowest = undefined
      return taken
    },
  }
})

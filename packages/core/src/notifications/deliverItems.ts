import { type Duration, Effect, Exit, FiberSet, Random } from "effect"
import { Commits } from "../engine/commits/Commits.ts"
import * as Instant from "../contract/Instant.ts"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import type { NotifierName } from "../contract/Status.ts"
import type { DeliveryResult, Notifier } from "../ports/Notifiers.ts"
import { Receivers } from "./Receivers.ts"
import { OutboxSignal } from "../usecases/OutboxSignal.ts"
import { type ClaimedItem, claimOutbox } from "./claimOutbox.ts"
import { keepLooking, waitForMore } from "./keepLooking.ts"
import { type AttemptResult, settleAttempt } from "./settleAttempt.ts"

interface DeliverInput extends Pick<Notifier, "kind"> {
  readonly receiver: NotifierName
  /** How long a claim holds. */
  readonly lease: Duration.Duration
  /** How many attempts may run at the same time. */
  readonly concurrency: number
  /** Where attempts run; interrupted ones are released. */
  readonly underWay: FiberSet.FiberSet
}

const BETWEEN_SETTLE_TRIES = "1 second"

/** Delivers the outbox items of one receiver forever: claims due items while attempts are free. */
export const deliverItems = Effect.fnUntraced(function* ({
  receiver,
  kind,
  lease,
  concurrency,
  underWay,
}: DeliverInput) {
  const commits = yield* Commits
  const signal = yield* OutboxSignal
  const receivers = yield* Receivers
  const givenUp = (yield* CurrentInstruments).givenUp.of(kind)
  let free = concurrency
  const endAttempt = Effect.suspend(() => {
    free += 1
    return signal.raise
  })

  // A reload may have removed the receiver since the claim, which then releases the item.
  const send: Notifier["send"] = (notification) =>
    receivers.current().get(receiver)?.send(notification) ?? Effect.interrupt

  // Settling is uninterruptible: every attempt is recorded, even an abandoned one.
  const attempt = (item: ClaimedItem) =>
    Effect.exit(Effect.interruptible(send(item.notification))).pipe(
      Effect.flatMap(toResult),
      Effect.flatMap((result) => settle(item, result, lease)),
      Effect.tap((settlement) => Effect.sync(() => settlement === "given_up" && givenUp.value++)),
      Effect.ensuring(endAttempt),
      Effect.uninterruptible,
    )

  // So is claiming: a claimed item is attempted or released, not left to its lease.
  const claim = Effect.fnUntraced(function* () {
    const random = yield* Random.next
    const claimed = yield* commits.transact(
      claimOutbox({ notifiers: [receiver], limit: free, lease, random }),
    )
    for (const item of claimed) {
      free -= 1
      yield* FiberSet.run(underWay, attempt(item))
    }
  }, Effect.uninterruptible)

  const look = Effect.gen(function* () {
    const seen = yield* signal.count
    if (free > 0) yield* claim()
    yield* free > 0 ? waitForMore([receiver], seen) : signal.after(seen)
  })
  return yield* keepLooking(look, "cannot read the outbox; delivery resumes when the storage recovers")
})

const toResult = (exit: Exit.Exit<DeliveryResult>): Effect.Effect<AttemptResult> =>
  Exit.match(exit, {
    onSuccess: Effect.succeed,
    onFailure: (cause): Effect.Effect<AttemptResult> =>
      Exit.hasInterrupts(exit)
        ? Effect.succeed({ outcome: "released" })
        : Effect.as(Effect.logError("a notifier failed unexpectedly; retrying the notification", cause), {
            outcome: "deferred",
            error: "the notifier failed unexpectedly; see the log",
          }),
  })

/**
 * Stores the result of an attempt. While the storage is unreachable it retries for as long as the
 * claim can hold: a lost result makes the receiver get the same message twice.
 */
const settle = Effect.fnUntraced(function* (
  item: ClaimedItem,
  result: AttemptResult,
  lease: Duration.Duration,
) {
  const commits = yield* Commits
  const random = yield* Random.next
  const giveUpAt = Instant.plus(yield* Instant.now, lease)
  for (;;) {
    const settled = yield* Effect.exit(commits.transact(settleAttempt(item.claim, result, random)))
    if (Exit.isSuccess(settled)) return settled.value
    if ((yield* Instant.now) >= giveUpAt) {
      yield* Effect.logWarning("cannot store the result of an attempt; repeating the attempt", settled.cause)
      return "lost"
    }
    yield* Effect.interruptible(Effect.sleep(BETWEEN_SETTLE_TRIES))
  }
})

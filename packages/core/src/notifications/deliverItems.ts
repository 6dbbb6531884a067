import { type Duration, Effect, Exit, FiberSet, Random } from "effect"
import { Commits } from "../engine/commits/Commits.ts"
import * as Instant from "../contract/Instant.ts"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import type { NotifierName } from "../contract/Status.ts"
import type { Notifier } from "../ports/Notifiers.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Receivers } from "./Receivers.ts"
import { OutboxSignal } from "../usecases/OutboxSignal.ts"
import { type ClaimedItem, claimOutbox } from "./claimOutbox.ts"
import { digestAttempt, digestsOf } from "./digest.ts"
import { keepLooking, waitForMore } from "./keepLooking.ts"
import { resultOf } from "./resultOf.ts"
import { type AttemptResult, settleAttempt } from "./settleAttempt.ts"

/** How one receiver is served. */
export interface ReceiverOptions {
  /** How many attempts may run at the same time. */
  readonly concurrency: number
  /** More due items than this become one message of each type; absent for single messages only. */
  readonly digestOver: number | undefined
}

interface DeliverInput extends Pick<Notifier, "kind"> {
  readonly receiver: NotifierName
  /** How long a claim holds. */
  readonly lease: Duration.Duration
  /** How the receiver is served now; a reload may change it. */
  readonly options: () => ReceiverOptions
  /** Where attempts run; interrupted ones are released. */
  readonly underWay: FiberSet.FiberSet
}

const BETWEEN_SETTLE_TRIES = "1 second"

/** Delivers the outbox items of one receiver forever: claims due items while attempts are free. */
export const deliverItems = Effect.fnUntraced(function* ({
  receiver,
  kind,
  lease,
  options,
  underWay,
}: DeliverInput) {
  const commits = yield* Commits
  const signal = yield* OutboxSignal
  const receivers = yield* Receivers
  const { current: policy } = yield* PolicyInForce
  const { staleAfter } = yield* RuleSettings
  const givenUp = (yield* CurrentInstruments).givenUp.of(kind)
  let running = 0
  const free = () => options().concurrency - running
  const endAttempt = Effect.suspend(() => {
    running -= 1
    return signal.raise
  })

  // A reload may have removed the receiver since the claim, which then releases the item.
  const send: Notifier["send"] = (notification) =>
    receivers.current().get(receiver)?.send(notification) ?? Effect.interrupt

  const end = (item: ClaimedItem, result: AttemptResult) =>
    Effect.tap(settle(item, result, lease), (settlement) =>
      Effect.sync(() => settlement === "given_up" && givenUp.value++),
    )
  const attempt = (item: ClaimedItem) =>
    Effect.flatMap(resultOf(send(item.notification)), (result) => end(item, result))
  const attemptDigest = (items: ReadonlyArray<ClaimedItem>) =>
    digestAttempt(items, {
      sendDigest: receivers.current().get(receiver)?.sendDigest,
      attempt,
      end,
      lease,
      concurrency: options().concurrency,
    })

  // So is claiming: a claimed item is attempted or released, not left to its lease.
  const claim = Effect.fnUntraced(function* () {
    const random = yield* Random.next
    const { digestOver } = options()
    const claimed = yield* commits.transact(
      claimOutbox({
        notifiers: [receiver],
        limit: free(),
        digestOver,
        lease,
        random,
        holds: { policy, staleAfter },
      }),
    )
    const isDigest = digestOver !== undefined && claimed.length > digestOver
    const attempts = isDigest
      ? digestsOf(claimed).map((items) => attemptDigest(items))
      : claimed.map((item) => attempt(item))
    for (const one of attempts) {
      running += 1
      // Settling is uninterruptible: every attempt is recorded, even an abandoned one.
      yield* FiberSet.run(underWay, Effect.uninterruptible(Effect.ensuring(one, endAttempt)))
    }
    return claimed.length > 0
  }, Effect.uninterruptible)

  const look = Effect.gen(function* () {
    const seen = yield* signal.count
    // A claim that found items has raised the signal: it looks for more before it asks when to.
    if (free() > 0 && (yield* claim())) return
    yield* free() > 0 ? waitForMore([receiver], seen) : signal.after(seen)
  })
  return yield* keepLooking(look, "cannot read the outbox; delivery resumes when the storage recovers")
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

import { Context, Duration, Effect, Exit, Fiber, FiberSet, Layer, Random } from "effect"
import * as Instant from "../contract/Instant.ts"
import { claimAlerts, settleAlert } from "../notifications/alertDecisions.ts"
import { type ClaimedItem, claimOutbox } from "../notifications/claimOutbox.ts"
import { type AttemptResult, settleAttempt } from "../notifications/settleAttempt.ts"
import { type Notifier, Notifiers } from "../ports/Notifiers.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { OutboxSignal } from "./OutboxSignal.ts"

/** What delivery can be set to. */
export interface DeliveryOptions {
  /** How long a claim holds, by the storage's clock (SERVICE_DELIVERY_LEASE). */
  readonly lease: Duration.Duration
}

/** The numbers of decisions §8. */
export const defaultDelivery: DeliveryOptions = { lease: Duration.seconds(60) }

/** {@link DeliveryOptions}; the defaults unless others are provided. */
export const DeliverySettings = Context.Reference<DeliveryOptions>("@tocsin/core/usecases/DeliverySettings", {
  defaultValue: () => defaultDelivery,
})

// Attempts under way at one notifier: enough that one slow answer does not hold up the rest, and few enough to be polite.
const ATTEMPTS_AT_ONCE = 8
// A look without a reason: another process may have died, or its hint been lost.
const LOOK_AT_LEAST_EVERY = Duration.seconds(15)
const AFTER_STORAGE_FAILURE = Duration.seconds(1)
const SETTLE_TRIES = 5
// Of the ten seconds in which a service has to stop, attempts under way have these to end by themselves.
const FINISH_WITHIN = Duration.seconds(4)
const ALERTS_AT_ONCE = 100

/**
 * Delivers the outbox for as long as the layer lives, one worker for each configured notifier, so that a dead receiver
 * holds up its own items alone. When the layer closes, attempts under way end or are given back (decisions §8).
 */
export const layer: Layer.Layer<never, never, Storage | OutboxSignal | Notifiers> = Layer.effectDiscard(
  Effect.gen(function* () {
    const notifiers = yield* Notifiers
    for (const notifier of notifiers.values()) {
      yield* startWorker(notifier)
      if (notifier.resend !== undefined) yield* startResending(notifier.resend)
    }
  }),
)

const startWorker = Effect.fnUntraced(function* (notifier: Notifier) {
  const storage = yield* Storage
  const signal = yield* OutboxSignal
  const { lease } = yield* DeliverySettings
  const underWay = yield* FiberSet.make<void>()
  const notifiers = [notifier.kind]

  const settle = (item: ClaimedItem, result: AttemptResult) =>
    Effect.flatMap(Random.next, (random) => storage.transact(settleAttempt(item.claim, result, random))).pipe(
      Effect.retry({ times: SETTLE_TRIES }),
      Effect.catch((error) =>
        Effect.logWarning("the result of an attempt could not be kept; it is repeated when its lease ends", error),
      ),
      Effect.andThen(signal.raise),
    )

  // Settling is not interrupted: an attempt that was made, or given up, is always noted.
  const attempt = (item: ClaimedItem) =>
    Effect.exit(Effect.interruptible(notifier.send(item.notification))).pipe(
      Effect.flatMap((exit) => settle(item, resultOf(exit))),
      Effect.uninterruptible,
    )

  // Nor is a claim: what was claimed is attempted or given back, not left to its lease.
  const claim = Effect.fnUntraced(function* (limit: number) {
    const random = yield* Random.next
    const claimed = yield* storage.transact(claimOutbox({ notifiers, limit, lease, random }))
    for (const item of claimed) yield* FiberSet.run(underWay, attempt(item))
    return claimed.length
  }, Effect.uninterruptible)

  const look = Effect.gen(function* () {
    const seen = yield* signal.count
    const limit = ATTEMPTS_AT_ONCE - (yield* FiberSet.size(underWay))
    if (limit > 0 && (yield* claim(limit)) === limit) return yield* signal.after(seen)
    const untilDue = yield* storage.untilNextDue(notifiers, yield* Instant.now)
    const wait = Duration.min(untilDue ?? LOOK_AT_LEAST_EVERY, LOOK_AT_LEAST_EVERY)
    yield* Effect.race(signal.after(seen), Effect.sleep(wait))
  })

  const worker = yield* Effect.forkScoped(
    persistently(look, "the outbox cannot be read; delivery goes on when the storage is back"),
  )
  // Finalizers run last to first: no new claims, then time to finish; then the set interrupts what is left.
  yield* Effect.addFinalizer(() =>
    Effect.andThen(Fiber.interrupt(worker), Effect.timeoutOption(FiberSet.awaitEmpty(underWay), FINISH_WITHIN)),
  )
})

/** Looks again and again; while the storage is away, once a second. */
const persistently = <R>(look: Effect.Effect<void, StorageError, R>, complaint: string) =>
  Effect.forever(
    Effect.catch(look, (error) =>
      Effect.andThen(Effect.logWarning(complaint, error), Effect.sleep(AFTER_STORAGE_FAILURE)),
    ),
  )

const resultOf = (exit: Exit.Exit<AttemptResult>): AttemptResult =>
  Exit.match(exit, {
    onSuccess: (result) => result,
    onFailure: (): AttemptResult =>
      Exit.hasInterrupts(exit)
        ? { outcome: "released" }
        : { outcome: "deferred", error: "the notifier failed unexpectedly; the log has the cause" },
  })

const startResending = Effect.fnUntraced(function* (resend: NonNullable<Notifier["resend"]>) {
  const storage = yield* Storage
  const signal = yield* OutboxSignal
  const { lease } = yield* DeliverySettings

  const look = Effect.gen(function* () {
    const seen = yield* signal.count
    const claimed = yield* storage.transact(claimAlerts({ limit: ALERTS_AT_ONCE, lease }))
    if (claimed.length > 0) {
      const result = yield* resend(claimed)
      // What was not taken is due again when its lease ends.
      if (result.outcome !== "delivered") {
        yield* Effect.logWarning("alerts could not be sent again; they are when their leases end", result.error)
        return
      }
      for (const { alert } of claimed) yield* storage.transact(settleAlert(alert))
      return
    }
    const untilDue = yield* storage.untilNextDue(["alert_router"], yield* Instant.now)
    const wait = Duration.min(untilDue ?? LOOK_AT_LEAST_EVERY, LOOK_AT_LEAST_EVERY)
    yield* Effect.race(signal.after(seen), Effect.sleep(wait))
  })

  yield* Effect.forkScoped(
    persistently(look, "alerts cannot be read; sending goes on when the storage is back"),
  )
})

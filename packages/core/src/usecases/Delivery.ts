import { Context, Duration, Effect, Fiber, FiberSet, Layer } from "effect"
import type { Commits } from "../engine/commits/Commits.ts"
import { deliverItems } from "../notifications/deliverItems.ts"
import { resendAlerts } from "../notifications/resendAlerts.ts"
import { Notifiers } from "../ports/Notifiers.ts"
import type { Storage } from "../ports/Storage.ts"
import type { OutboxSignal } from "./OutboxSignal.ts"

/** The options of delivery. */
export interface DeliveryOptions {
  /** How long a claim holds, by the storage's clock (SERVICE_DELIVERY_LEASE). */
  readonly lease: Duration.Duration
  /**
   * Concurrent attempts at each notifier (SERVICE_DELIVERY_CONCURRENCY): a hanging receiver blocks
   * only its own.
   */
  readonly concurrency: number
}

/** A lease of a minute, and as many attempts as one receiver handles without strain. */
export const defaultDelivery: DeliveryOptions = { lease: Duration.seconds(60), concurrency: 32 }

/** {@link DeliveryOptions}; the defaults unless provided. */
export const DeliverySettings = Context.Reference<DeliveryOptions>("@tocsin/core/usecases/DeliverySettings", {
  defaultValue: () => defaultDelivery,
})

// A stop may take ten seconds; running attempts get these to finish.
const FINISH_WITHIN = Duration.seconds(4)

/**
 * Delivers the outbox until the layer closes, with one worker for each configured notifier, so that
 * a dead receiver delays only its own items. On close, running attempts end or are released
 * (docs/rules.md#delivery).
 */
export const layer: Layer.Layer<never, never, Commits | Storage | OutboxSignal | Notifiers> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { lease, concurrency } = yield* DeliverySettings
      const underWay = yield* FiberSet.make()
      const workers: Array<Fiber.Fiber<never>> = []
      for (const { kind, send, resend } of (yield* Notifiers).values()) {
        workers.push(yield* Effect.forkScoped(deliverItems({ kind, send, lease, concurrency, underWay })))
        if (resend !== undefined)
          workers.push(yield* Effect.forkScoped(resendAlerts({ resend, lease, underWay })))
      }
      // Finalizers run last to first: no new claims, then time to finish; then the set interrupts the
      // rest.
      yield* Effect.addFinalizer(() =>
        Effect.andThen(
          Fiber.interruptAll(workers),
          Effect.timeoutOption(FiberSet.awaitEmpty(underWay), FINISH_WITHIN),
        ),
      )
    }),
  )

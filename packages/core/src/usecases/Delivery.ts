import { Context, Duration, Effect, Fiber, FiberSet, Layer } from "effect"
import { deliverItems } from "../notifications/deliverItems.ts"
import { resendAlerts } from "../notifications/resendAlerts.ts"
import { Notifiers } from "../ports/Notifiers.ts"
import type { Storage } from "../ports/Storage.ts"
import type { OutboxSignal } from "./OutboxSignal.ts"

/** What delivery can be set to. */
export interface DeliveryOptions {
  /** How long a claim holds, by the storage's clock (SERVICE_DELIVERY_LEASE). */
  readonly lease: Duration.Duration
  /** Attempts under way at each notifier (SERVICE_DELIVERY_CONCURRENCY): a receiver that hangs holds up its own share of them. */
  readonly concurrency: number
}

/** A lease of a minute, and as many attempts as one receiver takes without being pressed. */
export const defaultDelivery: DeliveryOptions = { lease: Duration.seconds(60), concurrency: 32 }

/** {@link DeliveryOptions}; the defaults unless others are provided. */
export const DeliverySettings = Context.Reference<DeliveryOptions>("@tocsin/core/usecases/DeliverySettings", {
  defaultValue: () => defaultDelivery,
})

// Of the ten seconds in which a service has to stop, attempts under way have these to end by themselves.
const FINISH_WITHIN = Duration.seconds(4)

/**
 * Delivers the outbox for as long as the layer lives, one worker for each configured notifier, so that a dead receiver
 * holds up its own items alone. When the layer closes, attempts under way end or are given back (docs/rules.md#delivery).
 */
export const layer: Layer.Layer<never, never, Storage | OutboxSignal | Notifiers> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { lease, concurrency } = yield* DeliverySettings
    const underWay = yield* FiberSet.make()
    const workers: Array<Fiber.Fiber<never>> = []
    for (const { kind, send, resend } of (yield* Notifiers).values()) {
      workers.push(yield* Effect.forkScoped(deliverItems({ kind, send, lease, concurrency, underWay })))
      if (resend !== undefined)
        workers.push(yield* Effect.forkScoped(resendAlerts({ resend, lease, underWay })))
    }
    // Finalizers run last to first: no new claims, then time to finish; then the set interrupts what is left.
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        Fiber.interruptAll(workers),
        Effect.timeoutOption(FiberSet.awaitEmpty(underWay), FINISH_WITHIN),
      ),
    )
  }),
)

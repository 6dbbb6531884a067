import { Subscriptions } from "@tocsin/core/features/integrations/Subscriptions"
import type { DeliveryResult } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Layer, Redacted, Result } from "effect"
import { type Answer, makeExchange } from "../http/exchange.ts"
import { receiptOf } from "../http/receipts.ts"
import { parseTarget, type TargetPolicy } from "../http/Target.ts"

/** Less than the 15 s within which Amazon SNS waits for the answer to its message. */
const TIMEOUT = Duration.seconds(10)

const judge = ({ status }: Answer) =>
  Effect.succeed<DeliveryResult>(
    status >= 200 && status < 300
      ? { outcome: "delivered" }
      : { outcome: "deferred", error: `It answered ${status}.` },
  )

/** Opens addresses once, without following where they lead. Guarded like notifiers (docs/rules.md#targets). */
export const layer = (policy: TargetPolicy): Layer.Layer<never> =>
  Layer.succeed(Subscriptions, {
    confirm: (address) =>
      Effect.scoped(
        Effect.gen(function* () {
          const target = parseTarget(Redacted.make(address), policy)
          if (Result.isFailure(target)) return `It ${target.failure}.`
          const exchange = yield* makeExchange(target.success, { ...policy, timeout: TIMEOUT })
          const { result } = yield* receiptOf(exchange({}), TIMEOUT, judge)
          return result.outcome === "delivered" ? undefined : result.error
        }),
      ),
  })

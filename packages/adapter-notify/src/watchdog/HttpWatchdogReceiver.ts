import {
  type WatchdogPing,
  WatchdogReceiver,
  type DeliveryResult,
} from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Layer } from "effect"
import { type Answer, makeExchange, type Message } from "../http/exchange.ts"
import { receiptOf } from "../http/receipts.ts"
import { type TargetPolicy, below, type Target } from "../http/Target.ts"

const TIMEOUT = Duration.seconds(10)

const judge = ({ status }: Answer) =>
  Effect.succeed<DeliveryResult>(
    status >= 200 && status < 300
      ? { outcome: "delivered" }
      : { outcome: "deferred", error: `The receiver answered ${status}: check SERVICE_WATCHDOG_URL.` },
  )

const messageOf = (watchdog: WatchdogPing): Message =>
  watchdog.isWell ? {} : { content: { type: "text/plain; charset=utf-8", text: watchdog.text } }

/**
 * Sends watchdog pings as healthchecks.io expects them: GET while all is well, otherwise POST of the
 * problems as plain text to `/fail` below the address. Guarded like notifiers
 * (docs/rules.md#targets).
 */
export const layer = (options: TargetPolicy & { readonly target: Target }): Layer.Layer<WatchdogReceiver> =>
  Layer.effect(
    WatchdogReceiver,
    Effect.gen(function* () {
      const limits = { ...options, timeout: TIMEOUT }
      const well = yield* makeExchange(options.target, limits)
      const failing = yield* makeExchange(below(options.target, "/fail"), limits)
      return WatchdogReceiver.of({
        send: (watchdog) =>
          receiptOf((watchdog.isWell ? well : failing)(messageOf(watchdog)), TIMEOUT, judge),
      })
    }),
  )

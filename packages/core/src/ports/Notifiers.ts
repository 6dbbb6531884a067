import { Context, type Effect } from "effect"
import type { NotifierName } from "@tocsin/contract/Status"
import type { ClaimedAlert, DeliveryAttempt } from "./DeliveryAttempt.ts"

/**
 * The result of one attempt (docs/rules.md#delivery). Operators see `error` as the item's
 * `last_error`: one sentence without an address, a secret or the receiver's text beyond its status.
 */
export type DeliveryResult =
  /** `error` if the receiver has it, but not all of its recipients. */
  | { readonly outcome: "delivered"; readonly error?: string }
  /** Worth another attempt: network error, time-out, 408, 425, 429, 5xx. */
  | { readonly outcome: "deferred"; readonly error: string; readonly retryAfterSeconds?: number | undefined }
  /** Not worth another attempt: any other status, a forbidden target. */
  | { readonly outcome: "refused"; readonly error: string }

/** The same, or `shadow`: the attempt ends as if delivered, and nothing was sent. */
export type SendResult = DeliveryResult | { readonly outcome: "shadow" }

/** The receiver's answer to a test message. */
export interface TestReceipt {
  readonly result: DeliveryResult
  /** HTTP status, if there was one. */
  readonly status: number | undefined
}

/** One way to notify people. */
export interface Notifier {
  /** The name in outbox items: its kind, or a custom name. */
  readonly kind: NotifierName
  /**
   * Makes one attempt. Never fails: errors are results. Ends within its own time-out (15 s, less
   * with shorter leases); interruption abandons the attempt. The caller may repeat it with the same
   * ID.
   */
  readonly send: (notification: DeliveryAttempt) => Effect.Effect<SendResult>
  /**
   * Makes one attempt at several notifications of one type as one message, for receivers that
   * people read; absent for all others (docs/rules.md#digests). Otherwise as `send`.
   */
  readonly sendDigest?: (notifications: ReadonlyArray<DeliveryAttempt>) => Effect.Effect<SendResult>
  /**
   * Sends alerts again, for a receiver that forgets alerts unless they repeat; absent for all others
   * (docs/rules.md#alertmanager). Alerts with `ended_at` are sent as ended. Never fails.
   */
  readonly resend?: (alerts: ReadonlyArray<ClaimedAlert>) => Effect.Effect<DeliveryResult>
  /**
   * The receiver keeps an alert until it is sent as ended: `resend` gets only alerts whose incident resolved
   * without a notification, once (docs/rules.md#notifiers).
   */
  readonly remembers?: true
  /** A danger of its settings, which the doctor names; absent without one. */
  readonly caution?: string
  /** Sends a message marked as a test. */
  readonly test: Effect.Effect<TestReceipt>
}

/** The configured notifiers by name. */
export class Notifiers extends Context.Service<Notifiers, ReadonlyMap<NotifierName, Notifier>>()(
  "@tocsin/core/ports/Notifiers",
) {}

/** A watchdog ping: all is well, or what is not. */
export type WatchdogPing = { readonly isWell: true } | { readonly isWell: false; readonly text: string }

/** Another system that raises the alarm when watchdog pings stop or report trouble. */
export class WatchdogReceiver extends Context.Service<
  WatchdogReceiver,
  {
    /**
     * Makes one attempt to send a watchdog ping. Never fails: errors are results, without an address. Ends
     * within 10 s.
     */
    readonly send: (watchdog: WatchdogPing) => Effect.Effect<TestReceipt>
  }
>()("@tocsin/core/ports/WatchdogReceiver") {}

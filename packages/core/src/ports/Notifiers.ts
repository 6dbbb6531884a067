import { Context, type Effect } from "effect"
import type { NotifierName } from "../contract/Status.ts"
import type { ClaimedAlert, DeliveryAttempt } from "../notifications/DeliveryAttempt.ts"

/**
 * What became of one attempt (docs/rules.md#delivery). `error` is kept as the item's `last_error` and shown to operators: one
 * sentence without an address, a secret or the receiver's text beyond its status.
 */
export type DeliveryResult =
  | { readonly outcome: "delivered" }
  /** Worth another attempt: network error, time-out, 408, 425, 429, 5xx. */
  | { readonly outcome: "deferred"; readonly error: string; readonly retryAfterSeconds?: number | undefined }
  /** Not worth another attempt: any other status, a target that must not be called. */
  | { readonly outcome: "refused"; readonly error: string }

/** What a receiver said to a test message, for the operator who asked for it. */
export interface TestReceipt {
  readonly result: DeliveryResult
  /** HTTP status, where there was one. */
  readonly status: number | undefined
}

/** One way to tell people. */
export interface Notifier {
  /** What outbox items call it: its kind, or a name of its own. */
  readonly kind: NotifierName
  /**
   * Makes one attempt. Never fails: what goes wrong is a result. Ends within its own time-out (15 s, less where leases
   * are shorter); interruption abandons the attempt. The caller may repeat it with the same id.
   */
  readonly send: (notification: DeliveryAttempt) => Effect.Effect<DeliveryResult>
  /**
   * Sends label sets again to a receiver that forgets what is not repeated; absent where the receiver does not
   * (alert_router, docs/rules.md#alertmanager). Those with `ended_at` are sent as ended. Never fails, like `send`.
   */
  readonly resend?: (alerts: ReadonlyArray<ClaimedAlert>) => Effect.Effect<DeliveryResult>
  /** Sends a message that is marked as a test. */
  readonly test: Effect.Effect<TestReceipt>
}

/** The notifiers that are configured, at most one of a name. */
export class Notifiers extends Context.Service<Notifiers, ReadonlyMap<NotifierName, Notifier>>()(
  "@tocsin/core/ports/Notifiers",
) {}

/** A sign of life: all is well, or what is not. */
export type Beat = { readonly isWell: true } | { readonly isWell: false; readonly text: string }

/** Another system that sounds the alarm when no beat comes, or one that tells of trouble. */
export class BeatReceiver extends Context.Service<
  BeatReceiver,
  {
    /** Makes one attempt to send a beat. Never fails: what goes wrong is a result, without an address. Ends within 10 s. */
    readonly send: (beat: Beat) => Effect.Effect<TestReceipt>
  }
>()("@tocsin/core/ports/BeatReceiver") {}

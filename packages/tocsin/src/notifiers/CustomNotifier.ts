import type { Notification } from "./Notification.ts"

/** What became of an attempt, where a notifier wants to say more than "it worked" or "it did not". */
export type SendResult =
  | { readonly outcome: "delivered" }
  /** Worth another attempt, not before `retryAfterSeconds` where that is given (an hour of it at most). */
  | {
      readonly outcome: "deferred"
      /** Kept as `last_error` and shown to operators: one sentence without an address, a secret or a foreign text. */
      readonly error: string
      readonly retryAfterSeconds?: number | undefined
    }
  /** Not worth another attempt: the item is a dead letter, which an operator can replay. */
  | { readonly outcome: "refused"; readonly error: string }

/** What an attempt is given besides the notification. */
export interface SendContext {
  /** Aborted when the attempt's time is over (15 s; less where `deliveryLease` is shorter) or the monitor closes. */
  readonly signal: AbortSignal
}

/**
 * A way of your own to tell people. Its notifications are written in the transaction of the incident change that they tell
 * of, and sent at least once, in order for each incident, by one process at a time: retries, dead letters and replays are
 * those of the other notifiers.
 *
 * `send` resolves (with nothing) when the receiver has it. It rejects when something went wrong: the reason goes to the log
 * and the attempt is repeated later, up to 14 times within a day. To say more, resolve with a {@link SendResult}; any other
 * value counts as deferred, so do not return the receiver's `Response`. `send` may be called again with the same `id`, and
 * for up to `deliveryConcurrency` notifications at once (32 unless given).
 *
 * @example
 * ```ts
 * const pager: CustomNotifier = {
 *   name: "pager",
 *   send: async ({ id, text }, { signal }) => {
 *     const { status } = await fetch(pagerUrl, { method: "POST", body: text, headers: { "idempotency-key": id }, signal })
 *     if (status === 404) return { outcome: "refused", error: "The pager knows no such person." }
 *     if (status >= 300) return { outcome: "deferred", error: `The pager answered ${status}.` }
 *   },
 * }
 * ```
 */
export interface CustomNotifier {
  /** Names it in the outbox, for good: 1 to 64 lower-case letters, digits or `_`, beginning with a letter. */
  readonly name: string
  /** Makes one attempt. */
  readonly send: (
    notification: Notification,
    context: SendContext,
  ) => Promise<SendResult | void> | SendResult | void
  /** Sends `text` as what it is, a test; absent where the notifier has no such thing. */
  readonly test?: (
    message: { readonly text: string },
    context: SendContext,
  ) => Promise<SendResult | void> | SendResult | void
}

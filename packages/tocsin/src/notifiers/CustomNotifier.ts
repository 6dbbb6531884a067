import type { PostingOptions } from "@tocsin/adapter-notify/http/HttpPost"
import { IncidentMessage, incidentMessage } from "@tocsin/adapter-notify/webhook/webhook"
import type { NotificationType } from "@tocsin/client/Resources"
import { testText } from "@tocsin/core/notifications/incidentText"
import type { DeliveryAttempt, DeliveryResult, Notifier, TestReceipt } from "@tocsin/core/ports/Notifiers"
import { Cause, Duration, Effect, Option, Schema } from "effect"

type Message = (typeof IncidentMessage)["Encoded"]["data"]

/**
 * One notification, with the fields of the webhook's message. `id` is the same for every attempt. `text` is
 * the message for people, in several lines; `summary` is one line.
 */
export interface Notification extends Message {
  /** The name of its notifier. */
  readonly notifier: string
  readonly event_type: NotificationType
  readonly created_at: string
  /** The number of this attempt, from 1. */
  readonly attempt: number
}

const encode = Schema.encodeSync(IncidentMessage)

/** A delivery attempt as a {@link Notification}. */
const toNotification = (delivery: DeliveryAttempt): Notification => {
  const { timestamp, data } = encode(incidentMessage(delivery))
  const { notifier, event_type, attempt } = delivery
  return { ...data, notifier, event_type, created_at: timestamp, attempt }
}

/** The outcome of an attempt, for more than success or failure. */
export type SendResult =
  | { readonly outcome: "delivered" }
  /** Tocsin retries, not before `retryAfterSeconds` (an hour at most). */
  | {
      readonly outcome: "deferred"
      /** Stored as `last_error`: one sentence without addresses, secrets or the receiver's text. */
      readonly error: string
      readonly retryAfterSeconds?: number | undefined
    }
  /** Tocsin does not retry: the item is a dead letter, which an operator can replay. */
  | { readonly outcome: "refused"; readonly error: string }

/** The context of an attempt. */
export interface SendContext {
  /** Aborted after 15 s (less with a short `deliveryLease`), or when the monitor closes. */
  readonly signal: AbortSignal
}

/**
 * Your own notifier. Its notifications are stored with the incident change and sent at least once, in order
 * for each incident, by one process at a time.
 *
 * `send` resolves with nothing once the receiver has the notification. If it rejects, Tocsin logs the reason
 * and retries, up to 14 times within a day. To say more, resolve with a {@link SendResult}; any other value
 * counts as deferred. It may run again with the same `id`, and for several notifications at once.
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
  /** Names it in the outbox; never change it: 1 to 64 lower-case letters, digits or `_`, a letter first. */
  readonly name: string
  /** Makes one attempt. */
  readonly send: (
    notification: Notification,
    context: SendContext,
  ) => Promise<SendResult | void> | SendResult | void
  /** Sends `text` as a test. Optional. */
  readonly test?: (
    message: { readonly text: string },
    context: SendContext,
  ) => Promise<SendResult | void> | SendResult | void
}

const delivered: DeliveryResult = { outcome: "delivered" }

const MAX_ERROR_CHARACTERS = 512
const MAX_SHOWN_CHARACTERS = 64

const EXPECTED =
  'return nothing, or an outcome of "delivered", "deferred" or "refused"; it counts as deferred'

/** The result of an attempt. JavaScript notifiers may return anything. */
const toResult = (name: string, returned: unknown): Effect.Effect<DeliveryResult> => {
  const { outcome, error, retryAfterSeconds }: Partial<Record<string, unknown>> = Object(returned)
  if (returned === undefined || outcome === "delivered") return Effect.succeed(delivered)
  const reason =
    typeof error === "string" && error !== ""
      ? error.slice(0, MAX_ERROR_CHARACTERS)
      : `The notifier ${name} gave no reason.`
  if (outcome === "refused") return Effect.succeed({ outcome, error: reason })
  if (outcome === "deferred") {
    const isPause = typeof retryAfterSeconds === "number" && retryAfterSeconds >= 0
    return Effect.succeed({ outcome, error: reason, ...(isPause && { retryAfterSeconds }) })
  }
  return Effect.as(Effect.logWarning(`the notifier ${name} returned ${shown(returned)}; ${EXPECTED}`), {
    outcome: "deferred",
    error: `The notifier ${name} returned no valid outcome; the log has the details.`,
  })
}

/** Describes a wrong result without its texts, which may be secrets. */
const shown = (value: unknown): string => {
  if (typeof value === "string" || typeof value === "function") return `a ${typeof value}`
  const { outcome, status, constructor }: Partial<Record<string, unknown>> = Object(value)
  if (typeof value !== "object" || value === null) return String(value)
  if (typeof outcome === "string")
    return `the outcome ${JSON.stringify(outcome.slice(0, MAX_SHOWN_CHARACTERS))}`
  const kind = typeof constructor === "function" ? `an object of ${constructor.name}` : "an object"
  return typeof status === "number" ? `${kind} with status ${status}` : kind
}

/** Runs a custom notifier: bounded in time, and never failing. */
export const runCustomNotifier = (custom: CustomNotifier, { timeout }: PostingOptions): Notifier => {
  const { name } = custom
  const attempt = (
    send: (context: SendContext) => Promise<SendResult | void> | SendResult | void,
  ): Effect.Effect<DeliveryResult> =>
    Effect.tryPromise({
      // The time-out interrupts, which aborts the signal.
      try: async (signal) => send({ signal }),
      catch: (cause) => cause,
    }).pipe(
      Effect.flatMap((returned) => toResult(name, returned)),
      Effect.timeoutOption(timeout),
      Effect.map(
        Option.getOrElse((): DeliveryResult => ({
          outcome: "deferred",
          error: `The receiver did not answer within ${Duration.format(timeout)}.`,
        })),
      ),
      // The error may contain addresses and secrets: it is for the log, not for lists.
      Effect.catch((cause) =>
        Effect.as(Effect.logWarning(`the notifier ${name} failed; retrying`, Cause.die(cause)), {
          outcome: "deferred" as const,
          error: `The notifier ${name} failed; the log has the cause.`,
        }),
      ),
    )
  const untested: TestReceipt = {
    status: undefined,
    result: { outcome: "refused", error: `The notifier ${name} has no test.` },
  }
  return {
    kind: name,
    takesDetails: true,
    send: (notification) => attempt((context) => custom.send(toNotification(notification), context)),
    test:
      custom.test === undefined
        ? Effect.succeed(untested)
        : Effect.map(
            attempt((context) => custom.test?.({ text: testText }, context)),
            (result) => ({ result, status: undefined }),
          ),
  }
}

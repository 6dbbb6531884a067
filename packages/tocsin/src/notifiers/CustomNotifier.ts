import type { PostingOptions } from "@tocsin/adapter-notify/http/HttpPost"
import { IncidentMessage, incidentMessage } from "@tocsin/adapter-notify/webhook/webhook"
import { unknownOptions } from "@tocsin/contract/formats/nearestName"
import type { NotificationType } from "@tocsin/client/Resources"
import { testText } from "@tocsin/core/heart/notifications/incidentText"
import type {
  DeliveryAttempt,
  DeliveryResult,
  Notifier,
  TestReceipt,
} from "@tocsin/core/heart/notifications/Notifiers"
import { Cause, Duration, Effect, Option, Schema } from "effect"
import { CurrentCallbacks } from "../live/ProgramCallbacks.ts"
import { maskOf } from "./maskSecrets.ts"
import { thrownText } from "./thrownText.ts"

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

const toNotification = (delivery: DeliveryAttempt): Notification => {
  const { timestamp, data } = encode(incidentMessage(delivery))
  const { notifier, event_type, attempt } = delivery
  return { ...data, notifier, event_type, created_at: timestamp, attempt }
}

/** The outcome of an attempt, for more than success or failure. */
export type SendResult =
  | { readonly outcome: "delivered" }
  /** Tocsin retries, not before `retryAfterSeconds`: from 0; more than an hour counts as one. What is no number is logged and ignored. */
  | {
      readonly outcome: "deferred"
      /** Stored as `last_error`: one sentence without addresses, secrets or the receiver's text. */
      readonly error: string
      readonly retryAfterSeconds?: number | undefined
    }
  /** Tocsin does not retry: the item is a dead letter, which an operator can replay. */
  | { readonly outcome: "refused"; readonly error: string }

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
 *     const { status } = await fetch(pagerUrl, { method: "POST", body: text, headers: { "idempotency-key": id }, redirect: "manual", signal })
 *     if (status === 404) return { outcome: "refused", error: "The pager knows no such person." }
 *     if (status >= 300) return { outcome: "deferred", error: `The pager answered ${status}.` }
 *   },
 * }
 * ```
 */
export interface CustomNotifier {
  /** Names it in the outbox; never change it: 1 to 64 lower-case letters, digits or `_`, a letter first. */
  readonly name: string
  /**
   * Texts of 8 characters or more that Tocsin shows as `***` in results, errors and logs of this notifier,
   * also where they are percent-encoded or as in JSON: a token, a password, the secret part of an address.
   */
  readonly secrets?: ReadonlyArray<string>
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

interface Reporter {
  readonly name: string
  readonly mask: (text: string) => string
}

/** The result of an attempt. JavaScript notifiers may return anything. */
const toResult = (
  returned: unknown,
  { name, mask }: Reporter,
): DeliveryResult | { readonly invalid: string } => {
  const { outcome, error, retryAfterSeconds }: Partial<Record<string, unknown>> = Object(returned)
  if (returned === undefined || outcome === "delivered") return delivered
  const reason =
    typeof error === "string" && error !== ""
      ? mask(error).slice(0, MAX_ERROR_CHARACTERS)
      : `The notifier ${name} gave no reason.`
  if (outcome === "refused") return { outcome, error: reason }
  if (outcome !== "deferred") return { invalid: shown(returned, mask) }
  return { outcome, error: reason, ...(isPause(retryAfterSeconds) && { retryAfterSeconds }) }
}

const isPause = (given: unknown): given is number => typeof given === "number" && given >= 0

/** Misspelt and wrong fields of a result, which a failure would lose. No problem repeats a value. */
const fieldProblems = (returned: unknown, { mask }: Reporter): ReadonlyArray<string> => {
  const { outcome, error, retryAfterSeconds }: Partial<Record<string, unknown>> = Object(returned)
  if (outcome !== "deferred" && outcome !== "refused") return []
  return [
    ...unknownOptions("", returned, ["outcome", "error", "retryAfterSeconds"]).map(mask),
    ...(error === undefined || typeof error === "string"
      ? []
      : [`error must be a string, and is ${kindOf(error)}; it is left out`]),
    ...(retryAfterSeconds === undefined || isPause(retryAfterSeconds)
      ? []
      : [
          `retryAfterSeconds must be a number from 0, and is ${kindOf(retryAfterSeconds)}; the pause is the usual one`,
        ]),
  ]
}

/** No value, which may be a secret. */
const kindOf = (given: unknown): string => {
  if (given instanceof Error) return "an Error instead of its message"
  if (typeof given === "number")
    return Number.isNaN(given) ? "NaN" : given < 0 ? "a negative number" : "a number"
  return given === null ? "null" : Array.isArray(given) ? "a list" : `of the type ${typeof given}`
}

/** Describes a wrong result without its texts, which may be secrets. */
const shown = (value: unknown, mask: Reporter["mask"]): string => {
  if (typeof value === "string" || typeof value === "function") return `a ${typeof value}`
  const { outcome, status, constructor }: Partial<Record<string, unknown>> = Object(value)
  if (typeof value !== "object" || value === null) return String(value)
  if (typeof outcome === "string")
    return `the outcome ${JSON.stringify(mask(outcome).slice(0, MAX_SHOWN_CHARACTERS))}`
  const kind = typeof constructor === "function" ? `an object of ${constructor.name}` : "an object"
  return typeof status === "number" ? `${kind} with status ${status}` : kind
}

/** The cause of a failure as text alone: an error's properties may hold secrets too. */
const maskedCause = (thrown: unknown, mask: Reporter["mask"]): Cause.Cause<never> => {
  const text = mask(thrownText(thrown))
  const nameEnd = text.indexOf(": ")
  const error = new Error(text.slice(nameEnd + 2))
  error.name = text.slice(0, nameEnd)
  error.stack = text
  return Cause.die(error)
}

const deferred = (error: string): DeliveryResult => ({ outcome: "deferred", error })

/** Answers and the storage are late by then. */
const LONG_MILLIS = 1_000

/** Whether the receiver has it is not known, so the next process sends it again. */
const CLOSING: SendResult = {
  outcome: "deferred",
  error: "The notifier closed the monitor before its attempt had ended.",
}

type Send = (context: SendContext) => Promise<SendResult | void> | SendResult | void

/** Makes one attempt of a custom notifier: bounded in time, and never failing. */
const attempt = (
  send: Send,
  reporter: Reporter,
  timeout: Duration.Duration,
): Effect.Effect<DeliveryResult> => {
  const { name, mask } = reporter
  let blockedMillis = 0
  const timed = (signal: AbortSignal) => {
    // Real time, also where the clock is that of a test.
    const began = performance.now()
    const answer = send({ signal })
    blockedMillis = performance.now() - began
    return answer
  }
  return Effect.flatMap(CurrentCallbacks, (callbacks) =>
    Effect.tryPromise({
      // The time-out interrupts, which aborts the signal. Reading a result may throw as well.
      try: async (signal) => {
        const returned = await callbacks.run(() => timed(signal), CLOSING)
        return { result: toResult(returned, reporter), problems: fieldProblems(returned, reporter) }
      },
      catch: (thrown) => thrown,
    }),
  ).pipe(
    Effect.tap(({ problems }) =>
      Effect.forEach(problems, (problem) =>
        Effect.logWarning(`in a result of the notifier ${name}, ${problem}`),
      ),
    ),
    Effect.flatMap(({ result }) =>
      "invalid" in result
        ? Effect.as(
            Effect.logWarning(`the notifier ${name} returned ${result.invalid}; ${EXPECTED}`),
            deferred(`The notifier ${name} returned no valid outcome; the log has the details.`),
          )
        : Effect.succeed(result),
    ),
    Effect.timeoutOption(timeout),
    Effect.map(
      Option.getOrElse(() => deferred(`The receiver did not answer within ${Duration.format(timeout)}.`)),
    ),
    // The error may contain addresses: it is for the log, not for lists.
    Effect.catch((thrown) =>
      Effect.as(
        Effect.logWarning(`the notifier ${name} failed`, maskedCause(thrown, mask)),
        deferred(`The notifier ${name} failed; the log has the cause.`),
      ),
    ),
    Effect.tap(() =>
      blockedMillis < LONG_MILLIS
        ? Effect.void
        : Effect.logWarning(
            `the notifier ${name} blocked this process for ${(blockedMillis / 1_000).toFixed(1)} s, in which nothing else ran: use asynchronous calls in it`,
          ),
    ),
  )
}

export const runCustomNotifier = (custom: CustomNotifier, { timeout }: PostingOptions): Notifier => {
  const { name, secrets = [] } = custom
  const reporter = { name, mask: maskOf(secrets) }
  const untested: TestReceipt = {
    status: undefined,
    result: { outcome: "refused", error: `The notifier ${name} has no test.` },
  }
  return {
    kind: name,
    takesDetails: true,
    send: (delivery) =>
      Effect.annotateLogs(
        attempt((context) => custom.send(toNotification(delivery), context), reporter, timeout),
        { notifier: name, id: delivery.id, attempt: delivery.attempt },
      ),
    test:
      custom.test === undefined
        ? Effect.succeed(untested)
        : Effect.map(
            Effect.annotateLogs(
              attempt((context) => custom.test?.({ text: testText() }, context), reporter, timeout),
              { notifier: name },
            ),
            (result) => ({ result, status: undefined }),
          ),
  }
}

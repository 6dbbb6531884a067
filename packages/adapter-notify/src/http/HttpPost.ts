import type { NotifierKind } from "@tocsin/contract/Status"
import * as Instant from "@tocsin/contract/Instant"
import type { TestReceipt } from "@tocsin/core/ports/Notifiers"
import { Duration, Effect, type Redacted, type Scope, Tracer } from "effect"
import { BadNotifierSetting } from "../BadNotifierSetting.ts"
import { receiptOf, resultOfStatus } from "./deliveryResult.ts"
import { type Answer, makeExchange } from "./exchange.ts"
import type { TargetPolicy } from "./RefusedAddresses.ts"
import { parseRetryAfter } from "./retryAfter.ts"
import { below, parseTarget } from "./Target.ts"

/** The longest attempt (docs/rules.md#delivery). */
export const DEFAULT_SEND_TIMEOUT: Duration.Duration = Duration.seconds(15)

/** The longest attempt under a lease: two thirds of a lease below 15 s (docs/rules.md#delivery). */
export const sendTimeout = (lease: Duration.Duration): Duration.Duration =>
  Duration.isLessThan(lease, DEFAULT_SEND_TIMEOUT)
    ? Duration.millis((Duration.toMillis(lease) * 2) / 3)
    : DEFAULT_SEND_TIMEOUT

/** The common options of notifiers that post. */
export interface PostingOptions extends TargetPolicy {
  /** From the start of an attempt to its result: see {@link sendTimeout}. */
  readonly timeout: Duration.Duration
}

export interface HttpPostOptions extends PostingOptions {
  readonly notifier: NotifierKind
  /** The setting of the address, for messages. */
  readonly setting: BadNotifierSetting["setting"]
  readonly address: Redacted.Redacted
  /** A path below the address, if that is a base address. */
  readonly path?: string
  /** Reads the seconds to wait from an answer's body, for receivers that send no Retry-After. */
  readonly retryAfterOf?: (body: string) => number | undefined
}

/** Makes one attempt to post a JSON text. Never fails: an error is a result. */
export type HttpPost = (
  json: string,
  headers?: Readonly<Record<string, string>>,
) => Effect.Effect<TestReceipt>

/**
 * The trace of the attempt, for the receiver (W3C Trace Context); empty unless traces are exported.
 */
const traceContext = Effect.withFiber((fiber) => {
  const { span, tracer } = fiber.cache
  const isKept = tracer !== undefined && tracer !== Tracer.nativeTracer
  if (span === undefined || !isKept) return Effect.succeed({})
  const flags = span.sampled ? "01" : "00"
  return Effect.succeed({ traceparent: `00-${span.traceId.padStart(32, "0")}-${span.spanId}-${flags}` })
})

/** A client of one receiver; its connections close with the scope (docs/rules.md#notifiers). */
export const makeHttpPost = Effect.fnUntraced(function* (
  options: HttpPostOptions,
): Effect.fn.Return<HttpPost, BadNotifierSetting, Scope.Scope> {
  const { notifier, setting, path, timeout } = options
  const target = yield* Effect.fromResult(parseTarget(options.address, options)).pipe(
    Effect.mapError((message) => new BadNotifierSetting({ notifier, setting, message })),
  )
  const exchange = yield* makeExchange(path === undefined ? target : below(target, path), options)
  const judge = ({ status, retryAfter, body }: Answer) =>
    Effect.map(Instant.now, (now) =>
      resultOfStatus(status, parseRetryAfter(retryAfter, now) ?? options.retryAfterOf?.(body)),
    )
  return (json, headers) =>
    Effect.flatMap(traceContext, (trace) => {
      const content = { type: "application/json", text: json }
      return receiptOf(exchange({ content, headers: { ...headers, ...trace } }), timeout, judge)
    })
})

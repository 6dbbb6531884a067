import { isIP } from "node:net"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { TestReceipt } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, type Redacted, Schema, type Scope, Tracer } from "effect"
import { type TargetPolicy, below, parseTarget } from "./Target.ts"
import { type Answer, type Exchange, makeExchange } from "./exchange.ts"
import { receiptOf, resultOfStatus, type Verdicts } from "./receipts.ts"

/**
 * A setting of a notifier is invalid. `message` completes a sentence that begins with the setting's
 * name ("… must be …"), without its value.
 */
export class BadNotifierSetting extends Schema.TaggedError<BadNotifierSetting>()("BadNotifierSetting", {
  setting: Schema.Literals(["url", "secrets", "token", "chat", "apiUrl", "user", "key", "routing_key"]),
  message: Schema.String,
}) {}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const MICROS_PER_SECOND = 1_000_000n

const WEEKDAY = "(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?"
const TIME = String.raw`(?<time>\d{2}:\d{2}:\d{2})`
const MONTH = `(?<month>${MONTHS.join("|")})`

/** Servers that write dates as mails do have other words for GMT. */
const ZONE = String.raw`(?:GMT|UTC|[+-]0000)`

/** The three forms of an HTTP-date; senders use the first, recipients take all (RFC 9110 §5.6.7). */
const HTTP_DATES = [
  new RegExp(String.raw`^${WEEKDAY}, (?<day>\d{1,2}) ${MONTH} (?<year>\d{4}) ${TIME} ${ZONE}$`),
  new RegExp(String.raw`^${WEEKDAY}, (?<day>\d{2})-${MONTH}-(?<year>\d{2}) ${TIME} ${ZONE}$`),
  new RegExp(String.raw`^${WEEKDAY} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
]

const parseHttpDate = (text: string, now: Instant.Instant): Instant.Instant | undefined => {
  for (const form of HTTP_DATES) {
    const { day, month, year, time } = form.exec(text)?.groups ?? {}
    if (day === undefined || month === undefined || year === undefined) continue
    const monthNumber = (MONTHS.indexOf(month) + 1).toString().padStart(2, "0")
    // A year of two digits is in this century.
    const century = Instant.format(now).slice(0, 2)
    return Instant.parse(
      `${year.padStart(4, century)}-${monthNumber}-${day.trim().padStart(2, "0")}T${time}Z`,
    )
  }
  return undefined
}

/**
 * The seconds that a Retry-After header asks to wait from `now`, at least 0 (RFC 9110 §10.2.3);
 * `undefined` without a valid one.
 */
export const parseRetryAfter = (header: string | undefined, now: Instant.Instant): number | undefined => {
  const text = header?.trim() ?? ""
  // Not a moment too early.
  if (/^\d+(?:\.\d*)?$/.test(text)) return Math.min(Math.ceil(Number(text)), Number.MAX_SAFE_INTEGER)
  const date = parseHttpDate(text, now)
  if (date === undefined) return undefined
  const micros = date - now
  return micros > 0n ? Number((micros + MICROS_PER_SECOND - 1n) / MICROS_PER_SECOND) : 0
}

/** The longest attempt (docs/rules.md#delivery). */
export const DEFAULT_SEND_TIMEOUT: Duration.Duration = Duration.seconds(15)

/** The longest attempt under a lease: two thirds of a lease below 15 s (docs/rules.md#delivery). */
export const sendTimeout = (lease: Duration.Duration): Duration.Duration =>
  Duration.isLessThan(lease, DEFAULT_SEND_TIMEOUT)
    ? Duration.millis((Duration.toMillis(lease) * 2) / 3)
    : DEFAULT_SEND_TIMEOUT

/** The longest attempt at a mail server, which may greet slowly: 45 s, and three quarters of a lease. */
export const mailTimeout = (lease: Duration.Duration): Duration.Duration =>
  Duration.min(Duration.seconds(45), Duration.times(lease, 0.75))

export interface PostingOptions extends TargetPolicy {
  /** From the start of an attempt to its result: see {@link sendTimeout}. */
  readonly timeout: Duration.Duration
  /** The same for mail servers: see {@link mailTimeout}. */
  readonly mailTimeout?: Duration.Duration | undefined
  /** The mail server of the settings, for receivers that state none (docs/rules.md#mails). */
  readonly mailServer?: { readonly url: Redacted.Redacted; readonly from: string } | undefined
  /** The host of SERVICE_PUBLIC_URL, if it has a name: mail servers are greeted by it. */
  readonly publicHost?: (() => string | undefined) | undefined
}

/** The host of an address by which a mail server may be greeted; none of an IP address, nor of a name without a dot. */
export const namedHost = (address: string | undefined): string | undefined => {
  const name = address === undefined ? "" : new URL(address).hostname.replace(/\.$/, "")
  return name.includes(".") && isIP(name) === 0 ? name : undefined
}

export interface HttpPostOptions extends PostingOptions {
  /** The setting of the address, for messages; `url` unless given. */
  readonly setting?: BadNotifierSetting["setting"]
  readonly address: Redacted.Redacted
  /** A path below the address, if that is a base address. */
  readonly path?: string
  /** Reads the seconds to wait from an answer's body, for receivers that send no Retry-After. */
  readonly retryAfterOf?: ((body: string) => number | undefined) | undefined
  readonly verdicts?: Verdicts | undefined
}

/** The parts of a request that differ from a JSON text posted to the target. */
export interface PostParts {
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly type?: string | undefined
  readonly method?: "PUT" | undefined
  /** Path and query instead of the target's. */
  readonly path?: string | undefined
}

/** Makes one attempt to post a text. Never fails: an error is a result. */
export type HttpPost = (text: string, parts?: PostParts) => Effect.Effect<TestReceipt>

/** The trace of the attempt, for the receiver (W3C Trace Context); empty unless traces are exported. */
const traceContext = Effect.withFiber((fiber) => {
  const { span, tracer } = fiber.cache
  const isKept = tracer !== undefined && tracer !== Tracer.nativeTracer
  if (span === undefined || !isKept) return Effect.succeed({})
  const flags = span.sampled ? "01" : "00"
  return Effect.succeed({ traceparent: `00-${span.traceId.padStart(32, "0")}-${span.spanId}-${flags}` })
})

/** Makes attempts by an exchange, judged by the statuses and hints of their answers (docs/rules.md#delivery). */
export const postOver = (
  exchange: Exchange,
  { retryAfterOf, timeout, verdicts }: Pick<HttpPostOptions, "retryAfterOf" | "timeout" | "verdicts">,
): HttpPost => {
  const judge = ({ status, retryAfter, body }: Answer) =>
    Effect.map(Instant.now, (now) =>
      resultOfStatus(status, parseRetryAfter(retryAfter, now) ?? retryAfterOf?.(body), verdicts),
    )
  return (text, { headers, type = "application/json", ...place } = {}) =>
    Effect.flatMap(traceContext, (trace) => {
      const message = { content: { type, text }, headers: { ...headers, ...trace }, ...place }
      return receiptOf(exchange(message), timeout, judge)
    })
}

/** A client of one receiver; its connections close with the scope (docs/rules.md#notifiers). */
export const makeHttpPost = Effect.fnUntraced(function* (
  options: HttpPostOptions,
): Effect.fn.Return<HttpPost, BadNotifierSetting, Scope.Scope> {
  const { path, setting = "url" } = options
  const target = yield* Effect.fromResult(parseTarget(options.address, options)).pipe(
    Effect.mapError((message) => new BadNotifierSetting({ setting, message })),
  )
  return postOver(yield* makeExchange(path === undefined ? target : below(target, path), options), options)
})

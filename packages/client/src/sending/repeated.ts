import { Clock, Duration, Effect, Random, Result } from "effect"
import { Headers, type HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import { timedOut } from "./attempt.ts"

/** How often, and for how long, something is tried. */
export interface Patience {
  /** How often at most after the first attempt. */
  readonly times: number
  /** For all attempts and pauses together. */
  readonly within: Duration.Duration
}

type Response = HttpClientResponse.HttpClientResponse
type Attempt = Effect.Effect<Response, HttpClientError.HttpClientError>
type Outcome = Result.Result<Response, HttpClientError.HttpClientError>

/** Statuses that another try may change: overload, a restart behind a proxy, a storage that is away. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

const FIRST_PAUSE_MILLIS = 500
const LONGEST_PAUSE_MILLIS = 10_000
/** So much longer than asked for at most, so that those who were sent away together do not come back together. */
const RETRY_AFTER_JITTER = 0.2

const isWorthAnother = (outcome: Outcome): boolean =>
  Result.isSuccess(outcome)
    ? TRANSIENT.has(outcome.success.status)
    : outcome.failure.reason._tag === "TransportError"

/**
 * How long an answer asks to wait (RFC 9110, 10.2.3), in milliseconds; `undefined` where it does not. A date counts from
 * the answer's own Date, where it has one: the two clocks may differ.
 */
export const retryAfterMillis = (response: Response, nowMillis: number): number | undefined => {
  const { "retry-after": text, date } = response.headers
  const retryAfter = text === undefined ? undefined : Result.getOrUndefined(Headers.parseRetryAfter(text))
  if (retryAfter === undefined) return undefined
  if (retryAfter._tag === "Duration") return Duration.toMillis(retryAfter.duration)
  const theirs = date === undefined ? undefined : Result.getOrUndefined(Headers.parseHttpDate(date))
  return Math.max(0, retryAfter.dateTime.epochMilliseconds - (theirs?.epochMilliseconds ?? nowMillis))
}

/** Doubled each time, of which a random half or more is waited; what the answer asks for where that is longer. */
const pauseMillis = (made: number, askedFor: number | undefined, random: number): number => {
  const longest = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS * 2 ** (made - 1))
  const pause = longest * (0.5 + random / 2)
  return askedFor === undefined ? pause : Math.max(pause, askedFor * (1 + RETRY_AFTER_JITTER * random))
}

/**
 * Makes an attempt again while its outcome is one that may pass, and there is time. What the last attempt came to is the
 * outcome; a pause that would outlast the time is not begun.
 */
export const repeated = Effect.fnUntraced(function* (
  attempt: Attempt,
  request: HttpClientRequest.HttpClientRequest,
  { times, within }: Patience,
) {
  const endsAt = (yield* Clock.currentTimeMillis) + Duration.toMillis(within)
  for (let made = 1; ; made += 1) {
    const left = endsAt - (yield* Clock.currentTimeMillis)
    const outcome: Outcome = yield* attempt.pipe(
      Effect.timeoutOrElse({ duration: left, orElse: () => Effect.fail(timedOut(request)) }),
      Effect.result,
    )
    if (made > times || !isWorthAnother(outcome)) return yield* Effect.fromResult(outcome)
    const now = yield* Clock.currentTimeMillis
    const askedFor = Result.isSuccess(outcome) ? retryAfterMillis(outcome.success, now) : undefined
    const pause = pauseMillis(made, askedFor, yield* Random.next)
    if (now + pause >= endsAt) return yield* Effect.fromResult(outcome)
    yield* Effect.sleep(pause)
  }
})

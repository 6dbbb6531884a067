import { Clock, Duration, Effect, Random, Result } from "effect"
import type { HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { retryAfterMillis } from "@tocsin/reporting/agent/retryAfter"
import type { ReadOptions } from "../options/ClientOptions.ts"
import { timedOut } from "./attempt.ts"

type Response = HttpClientResponse.HttpClientResponse
type Attempt = Effect.Effect<Response, HttpClientError.HttpClientError>
type Outcome = Result.Result<Response, HttpClientError.HttpClientError>

/** Statuses that may pass: overload, a restart behind a proxy, an unreachable storage. */
export const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

const FIRST_PAUSE_MILLIS = 500
const LONGEST_PAUSE_MILLIS = 10_000
/**
 * Up to this much longer than `Retry-After`, so that clients do not return all at the same time.
 */
const RETRY_AFTER_JITTER = 0.2

const isWorthAnother = (outcome: Outcome): boolean =>
  Result.isSuccess(outcome)
    ? TRANSIENT.has(outcome.success.status)
    : outcome.failure.reason._tag === "TransportError"

/** How long the answer asks to wait, in milliseconds. */
export const askedMillis = ({ headers }: Response, nowMillis: number): number | undefined =>
  retryAfterMillis({ retryAfter: headers["retry-after"], date: headers["date"] }, nowMillis)

/** A random half or more of a doubling pause, or the answer's `Retry-After` if that is longer. */
export const pauseMillis = (made: number, askedFor: number | undefined, random: number): number => {
  const longest = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS * 2 ** (made - 1))
  const pause = longest * (0.5 + random / 2)
  return askedFor === undefined ? pause : Math.max(pause, askedFor * (1 + RETRY_AFTER_JITTER * random))
}

/**
 * Retries an attempt while its failure may pass and time is left; gives the last outcome. It does
 * not begin a pause that would outlast the time.
 */
export const repeated = Effect.fnUntraced(function* (
  attempt: Attempt,
  request: HttpClientRequest.HttpClientRequest,
  { retries: { times, within }, origin }: ReadOptions,
) {
  const endsAt = (yield* Clock.currentTimeMillis) + Duration.toMillis(within)
  for (let made = 1; ; made += 1) {
    const left = endsAt - (yield* Clock.currentTimeMillis)
    const outcome: Outcome = yield* attempt.pipe(
      Effect.timeoutOrElse({ duration: left, orElse: () => Effect.fail(timedOut(request, origin)) }),
      Effect.result,
    )
    if (made > times || !isWorthAnother(outcome)) return yield* Effect.fromResult(outcome)
    const now = yield* Clock.currentTimeMillis
    const askedFor = Result.isSuccess(outcome) ? askedMillis(outcome.success, now) : undefined
    const pause = pauseMillis(made, askedFor, yield* Random.next)
    if (now + pause >= endsAt) return yield* Effect.fromResult(outcome)
    yield* Effect.sleep(pause)
  }
})

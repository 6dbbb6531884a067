import { retryAfterMillis } from "@tocsin/reporting/agent/Answer"
import { Bytes, Clock, Context, Duration, Effect, Random, Result, Stream } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse,
} from "effect/http"
import { TocsinClientError } from "../TocsinClientError.ts"
import type { ReadOptions } from "../options/ClientOptions.ts"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse

/** The largest answer. A page of 500 results with 8 KiB of output each is 4 MiB. */
const LARGEST_ANSWER_BYTES = 16 * 2 ** 20

/** The failure of an attempt that took too long; its cause is the error to show. */
const timedOut = (request: Request, origin: string): HttpClientError.HttpClientError => {
  const cause = new TocsinClientError("timeout", `${origin} did not answer in time; see the option timeout`)
  return new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, cause }),
  })
}

const tooLarge = (response: Response, origin: string): HttpClientError.HttpClientError => {
  const cause = new TocsinClientError(
    "unexpected_answer",
    `${origin} answered with more than 16 MiB; ask for smaller pages by limit, or is baseUrl the address of a Tocsin?`,
  )
  return new HttpClientError.HttpClientError({
    reason: new HttpClientError.DecodeError({ request: response.request, response, cause }),
  })
}

/** Reads the whole body, so that a connection that breaks half-way fails the attempt. */
const wholeAnswer = Effect.fnUntraced(function* (response: Response, origin: string) {
  const { request, headers, stream } = response
  if (Number(headers["content-length"]) > LARGEST_ANSWER_BYTES)
    return yield* Effect.fail(tooLarge(response, origin))
  const chunks: Array<Uint8Array> = []
  let length = 0
  const isEmpty = yield* Stream.runForEach(stream, (chunk) => {
    chunks.push(chunk)
    length += chunk.length
    return length > LARGEST_ANSWER_BYTES ? Effect.fail(tooLarge(response, origin)) : Effect.void
  }).pipe(
    Effect.as(false),
    Effect.catch((error) => {
      const { reason } = error
      if (reason._tag === "EmptyBodyError") return Effect.succeed(true)
      if (reason._tag !== "DecodeError" || reason.cause instanceof TocsinClientError)
        return Effect.fail(error)
      // The body broke off.
      const broken = new HttpClientError.TransportError({ request, cause: reason.cause })
      return Effect.fail(new HttpClientError.HttpClientError({ reason: broken }))
    }),
  )
  if (isEmpty) return response
  return HttpClientResponse.fromWeb(request, new globalThis.Response(Bytes.concat(chunks), response))
})

/** A redirected POST would arrive as a GET (Fetch, HTTP-redirect fetch), so redirects are errors. */
export const withoutRedirects = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.add(context, FetchHttpClient.RequestInit, {
    ...Context.getOrUndefined(context, FetchHttpClient.RequestInit),
    redirect: "manual",
  })

/** Bounds each attempt, body included, by `timeout`, after which its connection is closed. */
export const boundedAttempts = (
  client: HttpClient.HttpClient,
  { timeout, origin }: ReadOptions,
): HttpClient.HttpClient => {
  const scoped = HttpClient.withScope(client)
  return HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap((request) =>
      scoped.execute(request).pipe(
        Effect.flatMap((response) => wholeAnswer(response, origin)),
        Effect.scoped,
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(timedOut(request, origin)) }),
        Effect.updateContext(withoutRedirects<never>),
      ),
    ),
    Effect.succeed,
  )
}

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

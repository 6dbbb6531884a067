import { retryAfterMillis } from "@tocsin/reporting/agent/Answer"
import * as ApiErrors from "@tocsin/contract/api/ApiErrors"
import { errorStatus } from "@tocsin/contract/formats/Errors"
import {
  Bytes,
  Clock,
  Context,
  Duration,
  Effect,
  Predicate,
  Random,
  Result,
  type Schema,
  Stream,
} from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse,
} from "effect/http"
import { type AnyCallCode, type ClientFailure, TocsinClientError } from "../TocsinClientError.ts"
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

/** Bounds the time of each attempt, body included, after which its connection is closed. */
export const boundedAttempts = (
  client: HttpClient.HttpClient,
  { timeoutOf, origin }: ReadOptions,
): HttpClient.HttpClient => {
  const scoped = HttpClient.withScope(client)
  return HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap((request) =>
      scoped.execute(request).pipe(
        Effect.flatMap((response) => wholeAnswer(response, origin)),
        Effect.scoped,
        Effect.timeoutOrElse({
          duration: timeoutOf(request.url),
          orElse: () => Effect.fail(timedOut(request, origin)),
        }),
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
/** Up to this much longer than `Retry-After`, so that clients do not return all at the same time. */
const RETRY_AFTER_JITTER = 0.2

const isWorthAnother = (outcome: Outcome): boolean =>
  Result.isSuccess(outcome)
    ? TRANSIENT.has(outcome.success.status)
    : outcome.failure.reason._tag === "TransportError"

/** How long the answer asks to wait, in milliseconds. */
const askedMillis = ({ headers }: Response, nowMillis: number): number | undefined =>
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

type ApiError = InstanceType<(typeof ApiErrors)[keyof typeof ApiErrors]>

export type CallError = ApiError | HttpClientError.HttpClientError | Schema.SchemaError

/** The code of an error of the API. */
export type CodeOf<E> = E extends ApiError ? (typeof ApiErrors)[E["_tag"]]["code"] : never

const MILLIS_PER_SECOND = 1_000
const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/** Statuses of proxies, whose bodies are not of this contract. */
const OF_PROXIES: ReadonlyMap<number, readonly [code: AnyCallCode | "payload_too_large", message: string]> =
  new Map([
    [408, ["timeout", "it took too long for"]],
    [413, ["payload_too_large", "it was too large for"]],
    [429, ["rate_limited", "there were too many requests for"]],
  ])
const UNREACHABLE = ["unavailable", "the service cannot be reached by"] as const
const LEAST_SERVER_ERROR = 500

/** The runtime's code of an error, such as ECONNREFUSED. */
const systemCode = (cause: unknown): string | undefined => {
  for (let current = cause; Predicate.isObject(current); current = current["cause"]) {
    const { code } = current
    if (typeof code === "string" && /^[A-Z][A-Z_]+$/.test(code)) return code
  }
  return undefined
}

const ofConnection = (cause: unknown, origin: string) => {
  const code = systemCode(cause)
  const why = code === undefined ? "" : ` (${code})`
  return new TocsinClientError(
    "connection",
    `there is no connection to ${origin}${why}; is the service running there, and may it be reached from here?`,
    { cause },
  )
}

const ofBody = (origin: string) =>
  new TocsinClientError(
    "unexpected_answer",
    `${origin} answered something else than this contract says; is baseUrl the address of a Tocsin at least as new as this client?`,
  )

const codeAndMessage = (status: number, origin: string) => {
  if (isRedirect(status))
    return [
      "unexpected_answer",
      `${origin} sends elsewhere instead of answering; give the address that it leads to as baseUrl`,
    ] as const
  const ofProxy = status >= LEAST_SERVER_ERROR ? UNREACHABLE : OF_PROXIES.get(status)
  if (ofProxy !== undefined)
    return [
      ofProxy[0],
      `${ofProxy[1]} what answers at ${origin} (status ${status}); try again later`,
    ] as const
  return [
    "unexpected_answer",
    `${origin} answered ${status}, which this contract does not know here; is baseUrl the address of a Tocsin at least as new as this client?`,
  ] as const
}

const ofAnswer = (response: Response, origin: string, nowMillis: number) => {
  const millis = askedMillis(response, nowMillis)
  const [code, message] = codeAndMessage(response.status, origin)
  return new TocsinClientError(code, message, {
    status: response.status,
    requestId: response.headers["x-request-id"],
    retryAfterSeconds: millis === undefined ? undefined : Math.ceil(millis / MILLIS_PER_SECOND),
  })
}

const errorsByTag = { ...ApiErrors }

const ofApi = (error: ApiError) => {
  const { code } = errorsByTag[error._tag]
  return new TocsinClientError(code, error.message, {
    status: errorStatus[code],
    requestId: error.request_id,
    retryAfterSeconds: "retryAfterSeconds" in error ? error.retryAfterSeconds : undefined,
  })
}

const convert = (error: CallError, origin: string, nowMillis: number): TocsinClientError => {
  if (error._tag === "SchemaError") return ofBody(origin)
  if (error._tag !== "HttpClientError") return ofApi(error)
  const cause = "cause" in error.reason ? error.reason.cause : undefined
  if (cause instanceof TocsinClientError) return cause
  if (error.reason._tag === "TransportError") return ofConnection(cause, origin)
  return error.response === undefined ? ofBody(origin) : ofAnswer(error.response, origin, nowMillis)
}

/** Replaces the failures of a generated client by the client's own error, without the request. */
export const toClientError =
  (origin: string) =>
  <A, E extends CallError, R>(
    call: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, ClientFailure<AnyCallCode | CodeOf<E>>, R> =>
    Effect.catch(call, (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
        // `convert` gives an error of the API its own code, which its type does not say.
        Effect.fail(convert(error, origin, nowMillis) as ClientFailure<AnyCallCode | CodeOf<E>>),
      ),
    )

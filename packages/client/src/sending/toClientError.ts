import * as ApiErrors from "@tocsin/contract/api/ApiErrors"
import { Clock, Effect, Predicate, type Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { type AnyCallCode, type ClientFailure, TocsinClientError } from "../TocsinClientError.ts"
import { askedMillis } from "./attempt.ts"

type ApiError = InstanceType<(typeof ApiErrors)[Exclude<keyof typeof ApiErrors, "errorStatus">]>

/** The failures of a generated client. */
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

const ofAnswer = (response: HttpClientResponse.HttpClientResponse, origin: string, nowMillis: number) => {
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
    status: ApiErrors.errorStatus[code],
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

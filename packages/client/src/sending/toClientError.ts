import type * as ApiErrors from "@tocsin/adapter-http/api/ApiErrors"
import { Clock, Effect, Predicate, type Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import {
  type AnyCallCode,
  type ClientErrorCode,
  type ClientErrorDetails,
  type ClientFailure,
  TocsinClientError,
} from "../TocsinClientError.ts"
import { AnswerTooLarge, AttemptTimedOut } from "./attempt.ts"
import { retryAfterMillis } from "./repeated.ts"

type ApiError = InstanceType<(typeof ApiErrors)[Exclude<keyof typeof ApiErrors, "errorStatus">]>

/** Everything that a call of the definition may fail with. */
export type CallError = ApiError | HttpClientError.HttpClientError | Schema.SchemaError

/** The code and the status of each error of the API. */
const API_ERRORS = {
  Validation: ["validation", 400],
  Unauthorized: ["unauthorized", 401],
  Forbidden: ["forbidden", 403],
  AgentBlocked: ["agent_blocked", 403],
  AgentNotAccepted: ["agent_not_accepted", 403],
  NotFound: ["not_found", 404],
  Conflict: ["conflict", 409],
  PayloadTooLarge: ["payload_too_large", 413],
  RateLimited: ["rate_limited", 429],
  Internal: ["internal", 500],
  NotReady: ["not_ready", 503],
} as const satisfies Readonly<Record<ApiError["_tag"], readonly [ClientErrorCode, number]>>

/** The codes of what an error of a call can become. */
export type CodeOf<E extends CallError> = E extends ApiError ? (typeof API_ERRORS)[E["_tag"]][0] : AnyCallCode

const MILLIS_PER_SECOND = 1_000
const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/** What a status means where its body is not of this contract, because something in front of the service answered. */
const OF_PROXIES: ReadonlyMap<number, readonly [code: AnyCallCode | "payload_too_large", message: string]> =
  new Map([
    [408, ["timeout", "it took too long for"]],
    [413, ["payload_too_large", "it was too large for"]],
    [429, ["rate_limited", "there were too many requests for"]],
    [502, ["unavailable", "the service cannot be reached by"]],
    [503, ["unavailable", "the service cannot be reached by"]],
    [504, ["unavailable", "the service cannot be reached by"]],
  ])

/** What the runtime calls it, where that is a code such as ECONNREFUSED. */
const systemCode = (cause: unknown): string | undefined => {
  for (let current = cause; Predicate.isObject(current); current = current["cause"]) {
    const { code } = current
    if (typeof code === "string" && /^[A-Z][A-Z_]+$/.test(code)) return code
  }
  return undefined
}

const ofTransport = (cause: unknown, origin: string) => {
  if (cause instanceof AttemptTimedOut)
    return new TocsinClientError("timeout", `${origin} did not answer in time; see the option timeout`)
  const code = systemCode(cause)
  const why = code === undefined ? "" : ` (${code})`
  return new TocsinClientError(
    "connection",
    `there is no connection to ${origin}${why}; is the service running there, and may it be reached from here?`,
    { cause },
  )
}

const ofResponse = (
  { status }: HttpClientResponse.HttpClientResponse,
  origin: string,
  details: ClientErrorDetails,
) => {
  if (isRedirect(status))
    return new TocsinClientError(
      "unexpected_answer",
      `${origin} sends elsewhere instead of answering; give the address that it leads to as baseUrl`,
      details,
    )
  const ofProxy = OF_PROXIES.get(status)
  if (ofProxy !== undefined) {
    const [code, message] = ofProxy
    return new TocsinClientError(
      code,
      `${message} what answers at ${origin} (status ${status}); try again later`,
      details,
    )
  }
  return new TocsinClientError(
    "unexpected_answer",
    `${origin} answered ${status}, which this contract does not know here; is baseUrl the address of a Tocsin?`,
    details,
  )
}

const ofBody = (origin: string) =>
  new TocsinClientError(
    "unexpected_answer",
    `${origin} answered something else than this contract says; is baseUrl the address of a Tocsin?`,
  )

const ofSize = (origin: string) =>
  new TocsinClientError(
    "unexpected_answer",
    `${origin} answered with more than 16 MiB; ask for smaller pages by limit, or is baseUrl the address of a Tocsin?`,
  )

const ofAnswer = (response: HttpClientResponse.HttpClientResponse, origin: string, nowMillis: number) => {
  const millis = retryAfterMillis(response, nowMillis)
  return ofResponse(response, origin, {
    status: response.status,
    requestId: response.headers["x-request-id"],
    retryAfterSeconds: millis === undefined ? undefined : Math.ceil(millis / MILLIS_PER_SECOND),
  })
}

const ofApi = (error: ApiError) => {
  const [code, status] = API_ERRORS[error._tag]
  return new TocsinClientError(code, error.message, {
    status,
    requestId: error.request_id,
    retryAfterSeconds: "retryAfterSeconds" in error ? error.retryAfterSeconds : undefined,
  })
}

const convert = (error: CallError, origin: string, nowMillis: number): TocsinClientError => {
  switch (error._tag) {
    case "HttpClientError":
      if (error.reason._tag === "TransportError") return ofTransport(error.reason.cause, origin)
      if ("cause" in error.reason && error.reason.cause instanceof AnswerTooLarge) return ofSize(origin)
      return error.response === undefined ? ofBody(origin) : ofAnswer(error.response, origin, nowMillis)
    case "SchemaError":
      return ofBody(origin)
    default:
      return ofApi(error)
  }
}

/** Turns what a call of the definition fails with into errors of the client, which hold nothing of the request. */
export const toClientError =
  (origin: string) =>
  <A, E extends CallError, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, ClientFailure<CodeOf<E>>, R> =>
    Effect.catch(call, (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
        // The codes are those of the table; that an index by a tag fits the error of that tag is beyond the compiler.
        Effect.fail(convert(error, origin, nowMillis) as ClientFailure<CodeOf<E>>),
      ),
    )

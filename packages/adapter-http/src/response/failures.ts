import type * as AdmissionErrors from "@tocsin/core/heart/admission/AdmissionErrors"
import { type ErrorCode, errorStatus, type ValidationError } from "@tocsin/contract/formats/Errors"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import * as OperationErrors from "@tocsin/core/kernel/engine/OperationErrors"
import { Cause, Effect, Option, References, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import * as ApiErrors from "@tocsin/contract/api/ApiErrors"
import { RequestId } from "./headerFields.ts"
import { FailureLog } from "./FailureLog.ts"

/** Why a request is refused, or how it failed: what its answer says. */
export interface Failure<Code extends ErrorCode = ErrorCode> {
  readonly code: Code
  readonly message: string
  /** After how many seconds another try may succeed: the header Retry-After. */
  readonly retryAfterSeconds?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Every error that a use case of the core may end with. */
export type CoreError =
  | InstanceOf<typeof AdmissionErrors>
  | InstanceOf<typeof OperationErrors>
  | StorageError
  | ValidationError

type InstanceOf<Module> = {
  [Name in keyof Module]: Module[Name] extends new (fields: never) => infer Instance ? Instance : never
}[keyof Module]

/** The code of each error of the core (docs/rules.md#errors). */
export const codes = {
  ValidationError: "validation",
  AgentBlocked: "agent_blocked",
  AnotherPolicy: "conflict",
  AgentNotAccepted: "agent_not_accepted",
  AgentNotFound: "not_found",
  KeyConflict: "conflict",
  NotAnAgentKey: "unauthorized",
  NotFound: "not_found",
  NotPermitted: "forbidden",
  StateConflict: "conflict",
  RateLimited: "rate_limited",
  StorageError: "internal",
} as const satisfies Readonly<Record<CoreError["_tag"], ErrorCode>>

type CodeOf<E extends CoreError> = (typeof codes)[E["_tag"]]

const STORAGE_RETRY_SECONDS = 1

/** An error of the core as an answer states it. The reason of a storage failure stays in the log. */
const failureOf = <E extends CoreError>(error: E): Failure<CodeOf<E>> => {
  // An index by the tag of E is the code of E.
  const code = codes[error._tag] as CodeOf<E>
  switch (error._tag) {
    case "StorageError":
      return {
        code,
        message: "the storage is unreachable or refuses writes; try again later",
        retryAfterSeconds: STORAGE_RETRY_SECONDS,
      }
    case "RateLimited":
      return { code, message: error.message, retryAfterSeconds: error.retryAfterSeconds }
    default:
      return { code, message: error.message }
  }
}

/** The answer to a defect, without detail (docs/rules.md#failures-of-the-storage). */
const unforeseen: Failure<"internal"> = {
  code: "internal",
  message: "the service failed unexpectedly; see its log",
}

/** The failure of a request that no rule predicts. Logs its cause, and passes interruptions on. */
export const failureOfDefect = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  // Interruptions carry no error.
  if (Cause.hasInterruptsOnly(cause)) return yield* Effect.failCause(cause as Cause.Cause<never>)
  yield* (yield* FailureLog).defect(cause, yield* References.CurrentLogAnnotations)
  return unforeseen
})

/** Why a use case has no reply. Logs what the answer does not state, with the annotations of the log. */
export const failureOfCause = <E extends CoreError>(
  cause: Cause.Cause<E>,
): Effect.Effect<Failure<CodeOf<E> | "internal">> => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error === undefined) return failureOfDefect(cause)
  const failure = failureOf(error)
  return error._tag === "StorageError"
    ? Effect.as(logStorageFailure(error), failure)
    : Effect.succeed(failure)
}

const logStorageFailure = Effect.fnUntraced(function* (error: StorageError) {
  yield* (yield* FailureLog).storage(error, yield* References.CurrentLogAnnotations)
})

export const errorBody = ({ code, message }: Failure, request_id: string) => ({
  error: { code, message, request_id },
})

/** The header fields of a failure, besides those that every answer has. */
export const errorFields = ({
  code,
  retryAfterSeconds,
  headers,
}: Failure): Readonly<Record<string, string>> => ({
  ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  ...(code === "unauthorized" && { "www-authenticate": "Bearer" }),
  ...headers,
})

/** The response to a request that reached no endpoint. */
export const errorResponse = (failure: Failure, requestId: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(errorBody(failure, requestId), {
    status: errorStatus[failure.code],
    headers: errorFields(failure),
  })

const classes = {
  validation: ApiErrors.Validation,
  unauthorized: ApiErrors.Unauthorized,
  forbidden: ApiErrors.Forbidden,
  agent_blocked: ApiErrors.AgentBlocked,
  agent_not_accepted: ApiErrors.AgentNotAccepted,
  not_found: ApiErrors.NotFound,
  conflict: ApiErrors.Conflict,
  payload_too_large: ApiErrors.PayloadTooLarge,
  rate_limited: ApiErrors.RateLimited,
  internal: ApiErrors.Internal,
  not_ready: ApiErrors.NotReady,
} as const satisfies Readonly<Record<ErrorCode, unknown>>

type ApiErrorOf<Code extends ErrorCode> = InstanceType<(typeof classes)[Code]>

/** Fails with a failure as the error that an endpoint declares. */
export const fail = <Code extends ErrorCode>({
  code,
  message,
  retryAfterSeconds,
}: Failure<Code>): Effect.Effect<never, ApiErrorOf<Code>> =>
  Effect.flatMap(RequestId, (request_id) => {
    // The table is exhaustive; that its entry for a code fits that code is beyond the compiler.
    const ApiError = classes[code] as unknown as new (
      fields: Omit<Failure, "code" | "headers"> & { readonly request_id: string },
    ) => ApiErrorOf<Code>
    return Effect.fail(
      new ApiError({ message, request_id, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }),
    )
  })

/** Turns whatever a use case ends with, except a reply, into the errors of the API. */
export const toApiError = <A, E extends CoreError, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, ApiErrorOf<CodeOf<E> | "internal">, R> =>
  Effect.catchCause(effect, (cause) =>
    Effect.flatMap(failureOfCause(cause), (failure) => fail<CodeOf<E> | "internal">(failure)),
  )

/** The same for a request with If-Match: 412 where that does not match. */
export const answeringMatch = <A, E extends CoreError, R>(
  effect: Effect.Effect<A, E | OperationErrors.AnotherPolicy, R>,
) =>
  Effect.flatMap(toApiError(Effect.catchTag(effect, "AnotherPolicy", Effect.succeed)), (answer) =>
    Schema.is(OperationErrors.AnotherPolicy)(answer)
      ? Effect.flatMap(RequestId, (request_id) =>
          Effect.fail(new ApiErrors.PreconditionFailed({ message: answer.message, request_id })),
        )
      : Effect.succeed(answer),
  )

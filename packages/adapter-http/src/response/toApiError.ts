import type {
  AgentBlocked,
  AgentNotAccepted,
  AgentNotFound,
  KeyConflict,
  RateLimited,
} from "@tocsin/core/admission/AdmissionErrors"
import type { ValidationError } from "@tocsin/core/contract/Errors"
import type { NotFound, StateConflict } from "@tocsin/core/usecases/Operations"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Cause, Effect, Option, References } from "effect"
import * as ApiErrors from "../api/ApiErrors.ts"
import type { Failure } from "./errorResponse.ts"
import { FailureLog } from "./FailureLog.ts"
import { unforeseen } from "./unforeseen.ts"
import { RequestId } from "../RequestId.ts"

/** Every error that a use case of the core may end with. */
export type CoreError =
  | AgentBlocked
  | AgentNotAccepted
  | AgentNotFound
  | KeyConflict
  | NotFound
  | StateConflict
  | RateLimited
  | StorageError
  | ValidationError

/** What each error of the core is answered as; its status is that of the error it becomes (docs/rules.md#order-of-checks). */
const answers = {
  ValidationError: ApiErrors.Validation,
  AgentBlocked: ApiErrors.AgentBlocked,
  AgentNotAccepted: ApiErrors.AgentNotAccepted,
  AgentNotFound: ApiErrors.NotFound,
  KeyConflict: ApiErrors.Conflict,
  NotFound: ApiErrors.NotFound,
  StateConflict: ApiErrors.Conflict,
  RateLimited: ApiErrors.RateLimited,
  StorageError: ApiErrors.Internal,
} as const satisfies Readonly<Record<CoreError["_tag"], unknown>>

type ApiErrorOf<E extends CoreError> = InstanceType<(typeof answers)[E["_tag"]]>

const STORAGE_RETRY_SECONDS = 1

interface Told {
  readonly message: string
  /** After how many seconds another try may succeed: the header Retry-After. */
  readonly retryAfterSeconds?: number
}

/** What is told of an error. What went wrong with the storage is not. */
const told = (error: CoreError): Told => {
  switch (error._tag) {
    case "StorageError":
      return {
        message: "the storage is unreachable or refuses writes; try again later",
        retryAfterSeconds: STORAGE_RETRY_SECONDS,
      }
    case "RateLimited":
      return { message: error.message, retryAfterSeconds: error.retryAfterSeconds }
    default:
      return { message: error.message }
  }
}

/** Turns the core's errors into those of the API. What the client is not told is logged: failures of the storage, and defects. */
export const toApiError = <A, E extends CoreError, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, ApiErrorOf<E> | ApiErrors.Internal, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, ApiErrorOf<E> | ApiErrors.Internal> => {
    const error = Cause.findErrorOption(cause)
    return Option.isSome(error) ? answer(error.value) : unexpected(cause)
  })

const answer = Effect.fnUntraced(function* <E extends CoreError>(error: E) {
  const request_id = yield* RequestId
  if (error._tag === "StorageError") {
    yield* (yield* FailureLog).storage(error, yield* References.CurrentLogAnnotations)
  }
  // The table is exhaustive; that an index by a tag fits the error with that tag is beyond the compiler.
  const ApiError = answers[error._tag] as unknown as new (
    fields: Told & { readonly request_id: string },
  ) => ApiErrorOf<E>
  return yield* Effect.fail(new ApiError({ ...told(error), request_id }))
})

const unexpected = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  // Interruptions carry no error.
  if (Cause.hasInterruptsOnly(cause)) return yield* Effect.failCause(cause as Cause.Cause<never>)
  yield* (yield* FailureLog).defect(cause, yield* References.CurrentLogAnnotations)
  const { message } = unforeseen
  return yield* new ApiErrors.Internal({ message, request_id: yield* RequestId })
})

/** The same, for those who write the answer themselves: as a value, because an Error costs the walk of its stack. */
export const failureOf = (error: CoreError): Failure => {
  const { message, retryAfterSeconds } = told(error)
  return {
    code: answers[error._tag].code,
    message,
    ...(retryAfterSeconds !== undefined && { headers: { "retry-after": String(retryAfterSeconds) } }),
  }
}

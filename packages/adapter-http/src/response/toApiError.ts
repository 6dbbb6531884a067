import type {
  AgentBlocked,
  AgentNotAccepted,
  AgentNotFound,
  KeyConflict,
  RateLimited,
} from "@tocsin/core/admission/AdmissionErrors"
import type { ValidationError } from "@tocsin/core/contract/ValidationError"
import type { StorageError } from "@tocsin/core/ports/Storage"
import type { NotFound, StateConflict } from "@tocsin/core/usecases/OperationErrors"
import { Cause, Effect } from "effect"
import * as ApiErrors from "../api/ApiErrors.ts"
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

const STORAGE_RETRY_SECONDS = 1

/** What each error of the core is answered with; its status is that of the error it becomes (decisions §1). */
const answers = {
  ValidationError: ({ message }: ValidationError, request_id: string) =>
    new ApiErrors.Validation({ message, request_id }),
  AgentBlocked: ({ message }: AgentBlocked, request_id: string) =>
    new ApiErrors.AgentBlocked({ message, request_id }),
  AgentNotAccepted: ({ message }: AgentNotAccepted, request_id: string) =>
    new ApiErrors.AgentNotAccepted({ message, request_id }),
  AgentNotFound: ({ message }: AgentNotFound, request_id: string) =>
    new ApiErrors.NotFound({ message, request_id }),
  KeyConflict: ({ message }: KeyConflict, request_id: string) =>
    new ApiErrors.Conflict({ message, request_id }),
  NotFound: ({ message }: NotFound, request_id: string) => new ApiErrors.NotFound({ message, request_id }),
  StateConflict: ({ message }: StateConflict, request_id: string) =>
    new ApiErrors.Conflict({ message, request_id }),
  RateLimited: ({ message, retryAfterSeconds }: RateLimited, request_id: string) =>
    new ApiErrors.RateLimited({ message, request_id, retryAfterSeconds }),
  StorageError: (_error: StorageError, request_id: string) =>
    new ApiErrors.Internal({
      message: "the service cannot reach its storage, or not write to it; try again later",
      request_id,
      retryAfterSeconds: STORAGE_RETRY_SECONDS,
    }),
} as const satisfies {
  readonly [E in CoreError as E["_tag"]]: (error: E, request_id: string) => { readonly request_id: string }
}

type ApiErrorOf<E extends CoreError> = ReturnType<(typeof answers)[E["_tag"]]>

/** Turns the core's errors into those of the API. What went wrong with the storage is logged, and not told. */
export const toApiError = <A, E extends CoreError, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, ApiErrorOf<E>, R> => Effect.catch(effect, answer)

const answer = Effect.fnUntraced(function* <E extends CoreError>(error: E) {
  const request_id = yield* RequestId
  if (error._tag === "StorageError") {
    const log = Effect.logError("a request failed because the storage did", Cause.fail(error))
    yield* Effect.annotateLogs(log, { request_id, reason: error.reason })
  }
  // The table is exhaustive; that an index by a tag fits the error with that tag is beyond the compiler.
  const toError = answers[error._tag] as unknown as (error: E, request_id: string) => ApiErrorOf<E>
  return yield* Effect.fail(toError(error, request_id))
})

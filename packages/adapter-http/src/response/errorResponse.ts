import type { ErrorCode } from "@tocsin/core/contract/Errors"
import type { ErrorResponse } from "@tocsin/core/contract/Responses"
import { HttpServerResponse } from "effect/http"
import { errorStatus } from "../api/ApiErrors.ts"

/** An error that comes from no endpoint: what it is, and the header fields that go with it. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The body of the answer to a failed request. */
export const errorBody = ({ code, message }: Failure, request_id: string): ErrorResponse => ({
  error: { code, message, request_id },
})

/** The response to a request that no endpoint answered. */
export const errorResponse = (failure: Failure, requestId: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(errorBody(failure, requestId), {
    status: errorStatus[failure.code],
    headers: failure.headers ?? {},
  })

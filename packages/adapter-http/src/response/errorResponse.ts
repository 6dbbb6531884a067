import type { ErrorCode } from "@tocsin/core/contract/ErrorCode"
import type { ErrorResponse } from "@tocsin/core/contract/Responses"
import { HttpServerResponse } from "effect/http"
import { errorStatus } from "../api/ApiErrors.ts"

/** An error that comes from no endpoint: what it is, and the header fields that go with it. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The response to a request that no endpoint answered (contract, ErrorResponse). */
export const errorResponse = (
  { code, message, headers = {} }: Failure,
  request_id: string,
): HttpServerResponse.HttpServerResponse => {
  const body: ErrorResponse = { error: { code, message, request_id } }
  return HttpServerResponse.jsonUnsafe(body, { status: errorStatus[code], headers })
}

import { Schema } from "effect"

/** The codes of all error responses with their statuses (docs/rules.md#errors). */
export const errorStatus = {
  unauthorized: 401,
  forbidden: 403,
  conflict: 409,
  agent_blocked: 403,
  agent_not_accepted: 403,
  not_found: 404,
  validation: 400,
  payload_too_large: 413,
  rate_limited: 429,
  internal: 500,
  not_ready: 503,
} as const
export type ErrorCode = keyof typeof errorStatus

/**
 * The request does not fit the contract. `message` is one sentence that names the first offending
 * field by its path and contains no value of the request (docs/rules.md#bodies).
 */
export class ValidationError extends Schema.TaggedError<ValidationError>()("ValidationError", {
  message: Schema.String,
}) {}

import { Schema } from "effect"

/** The codes of all error responses (docs/rules.md#errors). */
export const ErrorCode = Schema.Literals([
  "unauthorized",
  "forbidden",
  "conflict",
  "agent_blocked",
  "agent_not_accepted",
  "not_found",
  "validation",
  "payload_too_large",
  "rate_limited",
  "internal",
  "not_ready",
]).annotate({ identifier: "ErrorCode", description: "The kind of error, for programs to act on." })
export type ErrorCode = typeof ErrorCode.Type

/**
 * The request does not fit the contract. `message` is one sentence that names the first offending
 * field by its path and contains no value of the request (docs/rules.md#bodies).
 */
export class ValidationError extends Schema.TaggedError<ValidationError>()("ValidationError", {
  message: Schema.String,
}) {}

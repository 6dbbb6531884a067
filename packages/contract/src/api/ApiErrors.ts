import { type ErrorCode, errorStatus } from "../Errors.ts"
import { Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** A whole number of seconds in a header field (RFC 9110, delay-seconds). */
const Seconds = Schema.String.check(Schema.isPattern(/^[0-9]{1,9}$/u)).pipe(
  Schema.decodeTo(Schema.Int, SchemaTransformation.transform({ decode: Number, encode: String })),
)

const fields = {
  message: Schema.String.annotate({ description: "The fault, for people." }),
  request_id: Schema.String.annotate({ description: "Names the request, as the header X-Request-Id does." }),
}
type Fields = Schema.Struct.Type<typeof fields>

/** The body of an error of one code: the contract's ErrorResponse. */
const body = <const Code extends ErrorCode>(code: Code, identifier: string) =>
  Schema.Struct({ error: Schema.Struct({ code: Schema.Literal(code), ...fields }) }).annotate({
    identifier,
    description: `An error with the code ${code}.`,
    httpApiStatus: errorStatus[code],
  })

const bodyOf = <const Code extends ErrorCode>(code: Code, { message, request_id }: Fields) => ({
  error: { code, message, request_id },
})

/** The class of errors of one code: on the wire without a tag, its fields in a body. */
const apiError = <const Tag extends string, const Code extends ErrorCode>(
  tag: Tag,
  code: Code,
  description: string,
  status: number = errorStatus[code],
) => {
  class ApiError extends Schema.TaggedError<ApiError>()(tag, fields, { description }) {
    static readonly code: Code = code
    static readonly wire = body(code, `${tag}Error`)
      .pipe(
        Schema.decodeTo(
          Schema.toType(ApiError),
          SchemaTransformation.transform({
            decode: (encoded: { readonly error: Fields }) => new ApiError(encoded.error),
            encode: (error: Fields) => bodyOf(code, error),
          }),
        ),
      )
      .annotate({ httpApiStatus: status })
  }
  return ApiError
}

/** The request does not fit the contract. */
export class Validation extends apiError(
  "Validation",
  "validation",
  "The body or a parameter does not fit the contract.",
) {}

/** The role of the token is too low (docs/rules.md#order-of-checks, docs/rules.md#operators). */
export class Forbidden extends apiError("Forbidden", "forbidden", "The role of the token is too low.") {}

/** The agent key is blocked. */
export class AgentBlocked extends apiError("AgentBlocked", "agent_blocked", "The agent key is blocked.") {}

/** The agent key is not accepted for this agent. */
export class AgentNotAccepted extends apiError(
  "AgentNotAccepted",
  "agent_not_accepted",
  "The agent key is not accepted for this agent.",
) {}

/** There is no such agent. */
export class NotFound extends apiError("NotFound", "not_found", "There is no such agent.") {}

/** The key and the agent id of a heartbeat do not belong together. */
export class Conflict extends apiError(
  "Conflict",
  "conflict",
  "The agent key and the agent_id do not go together now.",
) {}

/** The replaced version is not the present one: a conflict with the status 412 (RFC 9110, 13.1.1). */
export class PreconditionFailed extends apiError(
  "PreconditionFailed",
  "conflict",
  "If-Match names another version than the present one.",
  412,
) {}

/** The body is larger than 1 MiB. */
export class PayloadTooLarge extends apiError(
  "PayloadTooLarge",
  "payload_too_large",
  "The body is larger than 1 MiB.",
) {}

/** The storage is unreachable or refuses writes, or the service is shutting down. */
export class NotReady extends apiError("NotReady", "not_ready", "The service is not ready.") {}

/** The bearer token is missing, malformed or not valid here. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", fields, {
  description: "The bearer token is missing, malformed or not valid here.",
}) {
  static readonly code = "unauthorized"
  static readonly wire = Unauthorized.pipe(
    HttpApiSchema.encodeToWithHeaders(
      {
        body: body(Unauthorized.code, "UnauthorizedError"),
        headers: { "www-authenticate": Schema.Literal("Bearer") },
      },
      {
        decode: (pair) => new Unauthorized(pair.body.error),
        encode: (error) => ({
          body: bodyOf(Unauthorized.code, error),
          headers: { "www-authenticate": "Bearer" as const },
        }),
      },
    ),
  )
}

/** The request exceeds a rate or volume. */
export class RateLimited extends Schema.TaggedError<RateLimited>()(
  "RateLimited",
  {
    ...fields,
    /** After how many seconds another try may succeed: the header Retry-After. */
    retryAfterSeconds: Schema.Int,
  },
  { description: "The request is beyond a rate or a volume." },
) {
  static readonly code = "rate_limited"
  static readonly wire = RateLimited.pipe(
    HttpApiSchema.encodeToWithHeaders(
      {
        body: body(RateLimited.code, "RateLimitedError"),
        headers: { "retry-after": Seconds },
      },
      {
        decode: ({ body: { error }, headers }) =>
          new RateLimited({ ...error, retryAfterSeconds: headers["retry-after"] }),
        encode: (error) => ({
          body: bodyOf(RateLimited.code, error),
          headers: { "retry-after": error.retryAfterSeconds },
        }),
      },
    ),
  )
}

/** The service failed. */
export class Internal extends Schema.TaggedError<Internal>()(
  "Internal",
  {
    ...fields,
    /** After how many seconds another try may succeed, if known: the header Retry-After. */
    retryAfterSeconds: Schema.optionalKey(Schema.Int),
  },
  { description: "The service failed." },
) {
  static readonly code = "internal"
  static readonly wire = Internal.pipe(
    HttpApiSchema.encodeToWithHeaders(
      {
        body: body(Internal.code, "InternalError"),
        headers: { "retry-after": Schema.optionalKey(Seconds) },
      },
      {
        decode: ({ body: { error }, headers: { "retry-after": retryAfterSeconds } }) =>
          new Internal({ ...error, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }),
        encode: (error) => ({
          body: bodyOf(Internal.code, error),
          headers: error.retryAfterSeconds === undefined ? {} : { "retry-after": error.retryAfterSeconds },
        }),
      },
    ),
  )
}

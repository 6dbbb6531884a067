import { ErrorCode } from "@tocsin/core/contract/ErrorCode"
import { Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** The status of every error code (contract, errors; decisions §1). */
export const errorStatus = {
  validation: 400,
  unauthorized: 401,
  forbidden: 403,
  agent_blocked: 403,
  agent_not_accepted: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  rate_limited: 429,
  internal: 500,
  not_ready: 503,
} as const satisfies Readonly<Record<ErrorCode, number>>

const fields = {
  message: Schema.String.annotate({ description: "What is wrong, for people." }),
  request_id: Schema.String.annotate({ description: "Names the request, as the header X-Request-Id does." }),
}
type Fields = Schema.Struct.Type<typeof fields>

/** The body of an error of one code: what the contract calls ErrorResponse. */
const body = <const Code extends ErrorCode>(code: Code) =>
  Schema.Struct({ error: Schema.Struct({ code: Schema.Literal(code), ...fields }) }).annotate({
    httpApiStatus: errorStatus[code],
  })

const bodyOf = <const Code extends ErrorCode>(code: Code, { message, request_id }: Fields) => ({
  error: { code, message, request_id },
})

/** A schema of errors of one code as they are on the wire: no tag, the fields inside `error`. */
const wire = <const Code extends ErrorCode, S extends Schema.Top & { readonly Type: Fields }>(
  code: Code,
  error: S & (new (fields: Fields) => S["Type"]),
  description: string,
) =>
  body(code)
    .pipe(
      Schema.decodeTo(
        Schema.toType(error),
        SchemaTransformation.transform({
          decode: (encoded: { readonly error: Fields }): S["Type"] => new error(encoded.error),
          encode: (value: S["Type"]) => bodyOf(code, value),
        }),
      ),
    )
    .annotate({ httpApiStatus: errorStatus[code], description })


/** The request does not fit the contract. */
export class Validation extends Schema.TaggedError<Validation>()("Validation", fields) {
  static readonly wire = wire("validation", Validation, "The body or a parameter does not fit the contract.")
}

/** The bearer token is missing, malformed or not valid here. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", fields) {
  static readonly wire = Unauthorized.pipe(
    HttpApiSchema.encodeToWithHeaders(
      { body: body("unauthorized"), headers: { "www-authenticate": Schema.Literal("Bearer") } },
      {
        decode: (pair) => new Unauthorized(pair.body.error),
        encode: (error) => ({ body: bodyOf("unauthorized", error), headers: { "www-authenticate": "Bearer" as const } }),
      },
    ),
  )
}

/** The operator's token is valid, but has not the right to do this. */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", fields) {
  static readonly wire = wire("forbidden", Forbidden, "The token has not the right to do this.")
}

/** The agent key is blocked. */
export class AgentBlocked extends Schema.TaggedError<AgentBlocked>()("AgentBlocked", fields) {
  static readonly wire = wire("agent_blocked", AgentBlocked, "The agent key is blocked.")
}

/** The agent key is not accepted for this agent. */
export class AgentNotAccepted extends Schema.TaggedError<AgentNotAccepted>()("AgentNotAccepted", fields) {
  static readonly wire = wire(
    "agent_not_accepted",
    AgentNotAccepted,
    "The agent key is not accepted for this agent.",
  )
}

/** There is no such agent. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", fields) {
  static readonly wire = wire("not_found", NotFound, "There is no such agent.")
}

/** The heartbeat's key and agent id do not go together. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", fields) {
  static readonly wire = wire("conflict", Conflict, "The request conflicts with the present state.")
}

/** The body is larger than 1 MiB. */
export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()("PayloadTooLarge", fields) {
  static readonly wire = wire("payload_too_large", PayloadTooLarge, "The body is larger than 1 MiB.")
}

/** The request is beyond a configured rate or volume. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...fields,
  /** After how many seconds another try may succeed; the header Retry-After. */
  retryAfterSeconds: Schema.Int,
}) {
  static readonly wire = RateLimited.pipe(
    HttpApiSchema.encodeToWithHeaders(
      { body: body("rate_limited"), headers: { "retry-after": Schema.Int } },
      {
        decode: (pair) =>
          new RateLimited({ ...pair.body.error, retryAfterSeconds: pair.headers["retry-after"] }),
        encode: (error) => ({
          body: bodyOf("rate_limited", error),
          headers: { "retry-after": error.retryAfterSeconds },
        }),
      },
    ),
  )
}

/** The service failed. */
export class Internal extends Schema.TaggedError<Internal>()("Internal", {
  ...fields,
  /** After how many seconds another try may succeed, where that is known; the header Retry-After. */
  retryAfterSeconds: Schema.optionalKey(Schema.Int),
}) {
  static readonly wire = Internal.pipe(
    HttpApiSchema.encodeToWithHeaders(
      { body: body("internal"), headers: { "retry-after": Schema.optionalKey(Schema.Int) } },
      {
        decode: ({ body: { error }, headers: { "retry-after": retryAfterSeconds } }) =>
          new Internal({ ...error, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }),
        encode: (error) => ({
          body: bodyOf("internal", error),
          headers:
            error.retryAfterSeconds === undefined ? {} : { "retry-after": error.retryAfterSeconds },
        }),
      },
    ),
  )
}

/** The service is not ready: its storage cannot be reached or written to, or it is about to stop. */
export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", fields) {
  static readonly wire = wire("not_ready", NotReady, "The service is not ready.")
}

import { type ErrorCode, errorStatus } from "../formats/Errors.ts"
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

/** The body of an error of one code (docs/rules.md#errors). */
const body = <const Code extends ErrorCode>(code: Code, identifier: string) =>
  Schema.Struct({ error: Schema.Struct({ code: Schema.Literal(code), ...fields }) }).annotate({
    identifier,
    description: `An error with the code ${code}.`,
    httpApiStatus: errorStatus[code],
  })

const bodyOf = <const Code extends ErrorCode>(code: Code, { message, request_id }: Fields) => ({
  error: { code, message, request_id },
})

/** The schema of an error class as it is on the wire: no tag, its fields in a body of one code. */
const onWire = <const Code extends ErrorCode, S extends Schema.Top & { readonly Type: Fields }>(
  errorClass: S & (new (fields: Fields) => S["Type"]),
  code: Code,
  identifier: string,
  status: number = errorStatus[code],
) =>
  body(code, identifier)
    .pipe(
      Schema.decodeTo(
        Schema.toType(errorClass),
        SchemaTransformation.transform({
          decode: (encoded: { readonly error: Fields }): S["Type"] => new errorClass(encoded.error),
          encode: (error: S["Type"]) => bodyOf(code, error),
        }),
      ),
    )
    .annotate({ httpApiStatus: status })

export class Validation extends Schema.TaggedError<Validation>()("Validation", fields, {
  description: "The body or a parameter does not fit the contract.",
}) {
  static readonly code = "validation"
  static readonly wire = onWire(Validation, Validation.code, "ValidationError")
}

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

/** The role of the token is too low (docs/rules.md#order-of-checks, docs/rules.md#operators). */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", fields, {
  description: "The role of the token is too low.",
}) {
  static readonly code = "forbidden"
  static readonly wire = onWire(Forbidden, Forbidden.code, "ForbiddenError")
}

export class AgentBlocked extends Schema.TaggedError<AgentBlocked>()("AgentBlocked", fields, {
  description: "The agent key is blocked.",
}) {
  static readonly code = "agent_blocked"
  static readonly wire = onWire(AgentBlocked, AgentBlocked.code, "AgentBlockedError")
}

export class AgentNotAccepted extends Schema.TaggedError<AgentNotAccepted>()("AgentNotAccepted", fields, {
  description: "The agent key is not accepted for this agent.",
}) {
  static readonly code = "agent_not_accepted"
  static readonly wire = onWire(AgentNotAccepted, AgentNotAccepted.code, "AgentNotAcceptedError")
}

export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", fields, {
  description: "There is no such agent.",
}) {
  static readonly code = "not_found"
  static readonly wire = onWire(NotFound, NotFound.code, "NotFoundError")
}

/** The key and the agent id of a heartbeat do not belong together. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", fields, {
  description: "The agent key and the agent_id do not go together now.",
}) {
  static readonly code = "conflict"
  static readonly wire = onWire(Conflict, Conflict.code, "ConflictError")
}

/** The replaced version is not the present one: a conflict with the status 412 (RFC 9110, 13.1.1). */
export class PreconditionFailed extends Schema.TaggedError<PreconditionFailed>()(
  "PreconditionFailed",
  fields,
  { description: "If-Match names another version than the present one." },
) {
  static readonly code = "conflict"
  static readonly wire = onWire(PreconditionFailed, PreconditionFailed.code, "PreconditionFailedError", 412)
}

export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()("PayloadTooLarge", fields, {
  description: "The body is larger than 1 MiB.",
}) {
  static readonly code = "payload_too_large"
  static readonly wire = onWire(PayloadTooLarge, PayloadTooLarge.code, "PayloadTooLargeError")
}

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

/** The issuer by which people sign in fails: `internal` with the status 502 (RFC 9110, 15.6.3). */
export class IssuerFailed extends Schema.TaggedError<IssuerFailed>()("IssuerFailed", fields, {
  description: "The issuer does not answer, or refuses this server.",
}) {
  static readonly code = "internal"
  static readonly wire = onWire(IssuerFailed, IssuerFailed.code, "IssuerFailedError", 502)
}

export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", fields, {
  description: "The service is not ready.",
}) {
  static readonly code = "not_ready"
  static readonly wire = onWire(NotReady, NotReady.code, "NotReadyError")
}

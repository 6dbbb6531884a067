import type { Role } from "@tocsin/contract/operators/Operators"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Permission, TokenBuckets } from "@tocsin/core/kernel/engine/limits/TokenBuckets"
import { CurrentInstruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { CurrentOperator, type OperatorIdentity } from "@tocsin/core/kernel/ports/CurrentOperator"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Operators } from "@tocsin/core/heart/usecases/Operators"
import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { Context, Effect, Layer, Result, SchemaIssue } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import {
  AgentAuthentication,
  AgentKey,
  IgnoredBody,
  OperatorAuthentication,
  RequiredRole,
  ValidParameters,
} from "@tocsin/contract/api/operation"
import { fail, type Failure, toApiError } from "../response/failures.ts"
import { RequestId } from "../response/headerFields.ts"
import * as Access from "./access.ts"
import { requestAddress } from "./clientAddress.ts"
import { readIgnored } from "./RequestBody.ts"
import { requestMetrics } from "@tocsin/core/heart/usecases/requestMetrics"

// Some ten megabytes at most, whatever the number of addresses.
const ADDRESSES_KEPT = 50_000

const ALLOWED: Permission = { allowed: true }

const closing: HttpEffect.PreResponseHandler = (_, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "connection", "close"))

/**
 * Counts requests without a valid token. Beyond its budget, an address loses its connection with each
 * of them. A valid token always passes, so that clients behind the same address are not affected.
 */
export class FailedAuthentications extends Context.Service<
  FailedAuthentications,
  {
    readonly note: (refusal: Failure) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
    /** Counts the present request, whose body has a token that is not valid. */
    readonly noteToken: Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
    /** Counts the present request, a refused sign-in: clients with bad tokens keep no one else from signing in. */
    readonly noteSignIn: Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
    /** Whether the address of the present request has budget left for a sign-in that may be refused. */
    readonly permission: Effect.Effect<Permission, never, HttpServerRequest.HttpServerRequest>
    /** The address whose requests are counted. */
    readonly addressOf: ReturnType<typeof requestAddress>
  }
>()("@tocsin/adapter-http/request/FailedAuthentications") {
  /** `trustedHops` is how many proxies stand before the server. */
  static readonly layer = (trustedHops: number): Layer.Layer<FailedAuthentications> =>
    Layer.effect(
      FailedAuthentications,
      Effect.gen(function* () {
        const { failedAuthentications, throttled } = (yield* CurrentInstruments).of(requestMetrics)
        const { failedAuthenticationRate } = yield* RuleSettings
        const failures = new TokenBuckets(failedAuthenticationRate, ADDRESSES_KEPT)
        const addressOf = requestAddress(trustedHops)
        const permissionBy = (ask: "permission" | "take", of: "token" | "sign-in") =>
          Effect.gen(function* () {
            const address = addressOf(yield* HttpServerRequest.HttpServerRequest)
            const permission =
              address === undefined ? ALLOWED : failures[ask](`${of} ${address}`, yield* Instant.now)
            if (!permission.allowed) throttled.failed_authentication.value += 1
            return permission
          })
        const noteOf = (of: "token" | "sign-in") =>
          Effect.gen(function* () {
            failedAuthentications.of().value += 1
            const { allowed } = yield* permissionBy("take", of)
            if (!allowed) yield* HttpEffect.appendPreResponseHandler(closing)
          })
        const noteToken = noteOf("token")
        return FailedAuthentications.of({
          // A valid token that does not suffice is 403, and no failed authentication.
          note: ({ code }) => (code === "unauthorized" ? noteToken : Effect.void),
          noteToken,
          noteSignIn: noteOf("sign-in"),
          permission: permissionBy("permission", "sign-in"),
          addressOf,
        })
      }),
    )
}

/** Whether the token of the present request would still be accepted. */
export const IsStillAuthorized = Context.Reference<Effect.Effect<boolean, StorageError>>(
  "@tocsin/adapter-http/request/IsStillAuthorized",
  { defaultValue: () => Effect.succeed(true) },
)

interface Judge {
  readonly access: Access.Access
  readonly operators: Pick<Operators["Service"], "authenticate">
  readonly sessions: Pick<Sessions["Service"], "authenticate">
}

/** Whom a request comes from, or why it is refused. */
export const judge = Effect.fnUntraced(function* (
  { access, operators, sessions }: Judge,
  { headers }: HttpServerRequest.HttpServerRequest,
  role: Role,
): Effect.fn.Return<Result.Result<OperatorIdentity, Failure<"unauthorized" | "forbidden">>, StorageError> {
  const presented = access.operator(headers["authorization"])
  if (Result.isFailure(presented)) return Result.fail(presented.failure)
  const { success: given } = presented
  const isOfSession = given.kind === "of_session"
  const operator =
    given.kind === "of_settings"
      ? given.operator
      : yield* (isOfSession ? sessions : operators).authenticate(given.token)
  if (operator === undefined) return Result.fail(isOfSession ? Access.overSession : Access.noLongerValid)
  const refusal = Access.refusalOf(operator.role, role)
  return refusal === undefined ? Result.succeed(operator) : Result.fail(refusal)
})

export const layer = (tokens: Access.ServiceTokens) => {
  const needed = Effect.gen(function* () {
    const { note } = yield* FailedAuthentications
    return { access: Access.make(tokens, yield* Hashing), note }
  })
  return Layer.mergeAll(
    Layer.effect(
      AgentAuthentication,
      Effect.map(needed, ({ access, note }) => ({
        agentKey: Effect.fnUntraced(function* (httpEffect) {
          const { headers } = yield* HttpServerRequest.HttpServerRequest
          const key = access.agent(headers["authorization"])
          if (Result.isFailure(key)) return yield* Effect.andThen(note(key.failure), fail(key.failure))
          return yield* Effect.provideService(httpEffect, AgentKey, key.success)
        }),
      })),
    ),
    Layer.effect(
      OperatorAuthentication,
      Effect.map(Effect.all([needed, Operators, Sessions]), ([{ access, note }, operators, sessions]) => ({
        uiToken: Effect.fnUntraced(function* (httpEffect, { endpoint }) {
          const request = yield* HttpServerRequest.HttpServerRequest
          // An operation without the annotation, which a test refuses, would be for administrators.
          const role = Context.getOrElse(endpoint.annotations, RequiredRole, () => "admin" as const)
          const judged = judge({ access, operators, sessions }, request, role)
          const verdict = yield* toApiError(judged)
          if (Result.isFailure(verdict))
            return yield* Effect.andThen(note(verdict.failure), fail(verdict.failure))
          const acting = { ...verdict.success, via: "api", request_id: yield* RequestId } as const
          return yield* httpEffect.pipe(
            Effect.provideService(CurrentOperator, acting),
            Effect.provideService(IsStillAuthorized, Effect.map(judged, Result.isSuccess)),
          )
        }),
      })),
    ),
  )
}

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const describe = (issue: SchemaIssue.Issue, query: Readonly<Record<string, unknown>>): string => {
  const name = formatIssues(issue).issues[0]?.path?.[0]
  return typeof name === "string" && Array.isArray(query[name])
    ? `${name} must be given only once`
    : describeIssue(issue, "the parameters")
}

const OF_PARAMETERS: ReadonlySet<string> = new Set(["Params", "Query", "Headers"])

const validParameters = HttpApiMiddleware.layerSchemaErrorTransform(
  ValidParameters,
  Effect.fnUntraced(function* (error) {
    // An answer that does not fit its schema is a defect, not the sender's fault.
    if (!OF_PARAMETERS.has(error.kind)) return yield* Effect.fail(error)
    return yield* fail({
      code: "validation",
      message: describe(error.cause.issue, yield* HttpServerRequest.ParsedSearchParams),
    })
  }),
)

const ignoredBody = Layer.succeed(IgnoredBody, (httpEffect, { endpoint }) =>
  endpoint.payload.size > 0
    ? httpEffect
    : Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.andThen(readIgnored(request), httpEffect),
      ),
)

/** The rules for parameters and bodies that the API's definition names. */
export const requestRules = Layer.merge(validParameters, ignoredBody)

import type { ErrorCode } from "@tocsin/contract/Errors"
import type { Role } from "@tocsin/contract/Role"
import * as Instant from "@tocsin/contract/Instant"
import { ThrottledClients } from "@tocsin/core/engine/limits/ThrottledClients"
import { TokenBuckets } from "@tocsin/core/engine/limits/TokenBuckets"
import { CurrentInstruments } from "@tocsin/core/engine/metrics/Instruments"
import { Hashing } from "@tocsin/core/ports/Hashing"
import { CurrentOperator, type OperatorIdentity } from "@tocsin/core/audit/CurrentOperator"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { RuleSettings } from "@tocsin/core/ports/RuleSettings"
import { Operators } from "@tocsin/core/usecases/Operators"
import { Context, Effect, Layer, Result } from "effect"
import { HttpServerRequest } from "effect/http"
import { RequiredRole } from "@tocsin/contract/api/operation"
import { AgentAuthentication, AgentKey, OperatorAuthentication } from "@tocsin/contract/api/Authentication"
import { fail, type Failure, toApiError } from "../response/failures.ts"
import { RequestId } from "./RequestId.ts"
import * as Access from "./access.ts"
import { requestAddress } from "./clientAddress.ts"

// Some ten megabytes at most, whatever the number of addresses.
const ADDRESSES_KEPT = 50_000

/**
 * Counts requests without a valid token and throttles addresses that send too many. A valid token
 * always passes, so that clients behind the address of a throttled one are not affected.
 */
export class FailedAuthentications extends Context.Service<
  FailedAuthentications,
  {
    /**
     * Counts a refusal of the present request. Returns it, or 429 once its address has sent too
     * many.
     */
    readonly note: <Code extends ErrorCode>(
      refusal: Failure<Code>,
    ) => Effect.Effect<Failure<Code | "rate_limited">, never, HttpServerRequest.HttpServerRequest>
  }
>()("@tocsin/adapter-http/request/FailedAuthentications") {
  /** `trustedHops` is how many proxies stand before the server. */
  static readonly layer = (trustedHops: number): Layer.Layer<FailedAuthentications> =>
    Layer.effect(
      FailedAuthentications,
      Effect.gen(function* () {
        const instruments = yield* CurrentInstruments
        const { failedAuthenticationRate } = yield* RuleSettings
        const failures = new TokenBuckets(failedAuthenticationRate, ADDRESSES_KEPT)
        const throttled = new ThrottledClients(instruments, "failed_authentication")
        const addressOf = requestAddress(trustedHops)
        return FailedAuthentications.of({
          note: Effect.fnUntraced(function* <Code extends ErrorCode>(refusal: Failure<Code>) {
            // A valid token that does not suffice is 403, and no failed authentication.
            if (refusal.code !== "unauthorized") return refusal
            instruments.failedAuthentications.value += 1
            const address = addressOf(yield* HttpServerRequest.HttpServerRequest)
            if (address === undefined) return refusal
            const now = yield* Instant.now
            const permission = failures.take(address, now)
            if (permission.allowed) return refusal
            yield* throttled.note(address, now)
            const { retryAfterSeconds } = permission
            return {
              code: "rate_limited",
              message: `too many requests without a valid token from this address; try again in ${retryAfterSeconds} s`,
              retryAfterSeconds,
            } as const
          }),
        })
      }),
    )
}

/** Whether the token of the present request would still be accepted. */
export const IsStillAuthorized = Context.Reference<Effect.Effect<boolean, StorageError>>(
  "@tocsin/adapter-http/request/IsStillAuthorized",
  { defaultValue: () => Effect.succeed(true) },
)

interface Judge extends Pick<Operators["Service"], "authenticate"> {
  readonly access: Access.Access
}

/** Whom a request comes from, or why it is refused. */
const judge = Effect.fnUntraced(function* (
  { access, authenticate }: Judge,
  { headers }: HttpServerRequest.HttpServerRequest,
  role: Role,
): Effect.fn.Return<Result.Result<OperatorIdentity, Failure<"unauthorized" | "forbidden">>, StorageError> {
  const presented = access.operator(headers["authorization"])
  if (Result.isFailure(presented)) return Result.fail(presented.failure)
  const operator =
    presented.success.kind === "of_settings"
      ? presented.success.operator
      : yield* authenticate(presented.success.token)
  if (operator === undefined) return Result.fail(Access.noLongerValid)
  const refusal = Access.refusalOf(operator.role, role)
  return refusal === undefined ? Result.succeed(operator) : Result.fail(refusal)
})

/** Both authentications of the API. */
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
          if (Result.isFailure(key)) return yield* Effect.flatMap(note(key.failure), fail)
          return yield* Effect.provideService(httpEffect, AgentKey, key.success)
        }),
      })),
    ),
    Layer.effect(
      OperatorAuthentication,
      Effect.map(Effect.all([needed, Operators]), ([{ access, note }, { authenticate }]) => ({
        uiToken: Effect.fnUntraced(function* (httpEffect, { endpoint }) {
          const request = yield* HttpServerRequest.HttpServerRequest
          // An operation without the annotation, which a test refuses, would be for administrators.
          const role = Context.getOrElse(endpoint.annotations, RequiredRole, () => "admin" as const)
          const judged = judge({ access, authenticate }, request, role)
          const verdict = yield* toApiError(judged)
          if (Result.isFailure(verdict)) return yield* Effect.flatMap(note(verdict.failure), fail)
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

import { Effect, Layer, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Forbidden, RateLimited, Unauthorized } from "../api/ApiErrors.ts"
import { AgentAuthentication, AgentKey, OperatorAuthentication } from "../api/Authentication.ts"
import type { MetricsAccess } from "../metrics/MetricsAccess.ts"
import * as BearerToken from "./BearerToken.ts"
import { FailedAuthentications } from "./FailedAuthentications.ts"
import { RequestId } from "../RequestId.ts"

const notWellFormed =
  "send the header Authorization: Bearer with a token of 1 to 512 visible ASCII characters"
const notForAgents = "this token is not an agent key; give the agent its own key"
const notValid = "this token is not valid; use a token from SERVICE_AUTH_TOKEN"
const readOnly = Effect.flatMap(RequestId, (request_id) =>
  Effect.fail(
    new Forbidden({ message: "this token is read-only; use a token from SERVICE_AUTH_TOKEN", request_id }),
  ),
)

const READING = new Set(["GET", "HEAD"])
const isReading = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method }) =>
  READING.has(method) ? Effect.void : readOnly,
)

/**
 * The operators' tokens: those that may do everything, and those that may read only. The lists are looked at with each request,
 * so their owner may change them.
 */
export interface OperatorTokens {
  readonly uiTokens: ReadonlyArray<Redacted.Redacted>
  readonly readTokens?: ReadonlyArray<Redacted.Redacted> | undefined
}

// Of a token that stands in both settings, the right to change things counts.
const rolesOf = ({ uiTokens, readTokens = [] }: OperatorTokens) =>
  BearerToken.roleOf({ reader: readTokens, operator: uiTokens })

/** All tokens of a server's settings. */
export interface ServiceTokens extends OperatorTokens {
  readonly metrics?: { readonly access: MetricsAccess } | undefined
}

/**
 * Tells whether a well-formed token may be an agent key. One of the settings is not, so that such a secret can never be
 * registered as one (docs/rules.md#tokens).
 */
export const mayBeAgentKey = ({
  uiTokens,
  readTokens = [],
  metrics,
}: ServiceTokens): ((token: Redacted.Redacted) => boolean) => {
  const access = metrics?.access
  const scraper = access === undefined || access === "open" ? [] : access.tokens
  const roleOf = BearerToken.roleOf({ scraper, reader: readTokens, operator: uiTokens })
  return (candidate) => roleOf(candidate) === undefined
}

/** Refuses a request without a valid token, and counts it. */
const refusal = Effect.map(FailedAuthentications, ({ count }) =>
  Effect.fnUntraced(function* (message: string) {
    const request_id = yield* RequestId
    const throttled = yield* count
    if (throttled === undefined) return yield* new Unauthorized({ message, request_id })
    return yield* new RateLimited({ ...throttled, request_id })
  }),
)

/** Both authentications. */
export const layer = (tokens: ServiceTokens) => {
  const roleOf = rolesOf(tokens)
  const isAgentKey = mayBeAgentKey(tokens)
  return Layer.mergeAll(
    Layer.effect(
      AgentAuthentication,
      Effect.map(refusal, (refuse) => ({
        agentKey: (httpEffect, { credential }) => {
          if (!BearerToken.isWellFormed(credential)) return refuse(notWellFormed)
          return isAgentKey(credential)
            ? Effect.provideService(httpEffect, AgentKey, credential)
            : refuse(notForAgents)
        },
      })),
    ),
    Layer.effect(
      OperatorAuthentication,
      Effect.map(refusal, (refuse) => ({
        uiToken: (httpEffect, { credential }) => {
          if (!BearerToken.isWellFormed(credential)) return refuse(notWellFormed)
          switch (roleOf(credential)) {
            case "operator":
              return httpEffect
            case "reader":
              return Effect.andThen(isReading, httpEffect)
            case undefined:
              return refuse(notValid)
          }
        },
      })),
    ),
  )
}

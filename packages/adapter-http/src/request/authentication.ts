import { Effect, Layer, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Forbidden, Unauthorized } from "../api/ApiErrors.ts"
import { AgentAuthentication, AgentKey, OperatorAuthentication } from "../api/Authentication.ts"
import type { MetricsAccess } from "../metrics/MetricsAccess.ts"
import * as BearerToken from "./BearerToken.ts"
import { RequestId } from "../RequestId.ts"

const refuse = (message: string) =>
  Effect.flatMap(RequestId, (request_id) => Effect.fail(new Unauthorized({ message, request_id })))

const notWellFormed = refuse(
  "send a header Authorization: Bearer with a token of 1 to 512 visible ASCII characters",
)
const notForAgents = refuse("this token is not an agent key; an agent uses a key of its own")
const notValid = refuse("this token is not valid; use one of those in SERVICE_AUTH_TOKEN")
const readOnly = Effect.flatMap(RequestId, (request_id) =>
  Effect.fail(
    new Forbidden({ message: "this token may only read; use one of SERVICE_AUTH_TOKEN", request_id }),
  ),
)

const READING = new Set(["GET", "HEAD"])
const isReading = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method }) =>
  READING.has(method) ? Effect.void : readOnly,
)

/** The operators' tokens: those that may do everything, and those that may read only (decisions §10). */
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
 * registered as one (decisions §1).
 */
export const mayBeAgentKey = ({
  uiTokens,
  readTokens = [],
  metrics,
}: ServiceTokens): ((token: Redacted.Redacted) => boolean) => {
  const access = metrics?.access
  const token = access === "open" ? undefined : access?.token
  const roleOf = BearerToken.roleOf({ known: [...uiTokens, ...readTokens, ...(token ? [token] : [])] })
  return (candidate) => roleOf(candidate) === undefined
}

/** Both authentications. */
export const layer = (tokens: ServiceTokens): Layer.Layer<AgentAuthentication | OperatorAuthentication> => {
  const roleOf = rolesOf(tokens)
  const isAgentKey = mayBeAgentKey(tokens)
  return Layer.mergeAll(
    Layer.succeed(AgentAuthentication, {
      agentKey: (httpEffect, { credential }) => {
        if (!BearerToken.isWellFormed(credential)) return notWellFormed
        return isAgentKey(credential) ? Effect.provideService(httpEffect, AgentKey, credential) : notForAgents
      },
    }),
    Layer.succeed(OperatorAuthentication, {
      uiToken: (httpEffect, { credential }) => {
        if (!BearerToken.isWellFormed(credential)) return notWellFormed
        switch (roleOf(credential)) {
          case "operator":
            return httpEffect
          case "reader":
            return Effect.andThen(isReading, httpEffect)
          case undefined:
            return notValid
        }
      },
    }),
  )
}

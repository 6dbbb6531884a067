import { TocsinApi } from "@tocsin/adapter-http/api"
import { AgentAuthentication, OperatorAuthentication } from "@tocsin/adapter-http/api/Authentication"
import { OpsApi } from "@tocsin/adapter-http/api/OpsApi"
import { Effect, Layer, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import type { ReadOptions } from "../options/readOptions.ts"
import { boundedAttempts } from "../sending/attempt.ts"
import { repeated } from "../sending/repeated.ts"

const bearing = (request: HttpClientRequest.HttpClientRequest, token: Redacted.Redacted | undefined) =>
  token === undefined ? request : HttpClientRequest.bearerToken(request, token)

/**
 * What the definition asks of a client: that it authenticates. And what is known only there: which requests are safe to repeat.
 * Those of agents are; of those of operators the ones that read.
 */
const middleware = ({ token, agentKey, retries }: ReadOptions) =>
  Layer.merge(
    HttpApiMiddleware.layerClient(AgentAuthentication, ({ next, request }) =>
      repeated(next(bearing(request, agentKey)), request, retries),
    ),
    HttpApiMiddleware.layerClient(OperatorAuthentication, ({ endpoint, next, request }) => {
      const attempt = next(bearing(request, token))
      return endpoint.method === "GET" ? repeated(attempt, request, retries) : attempt
    }),
  )

/** The clients that follow from the definitions of the API: v1, and what operators do beyond it. */
export const clientsOf = Effect.fnUntraced(
  function* ({ baseUrl, timeout }: ReadOptions) {
    const httpClient = boundedAttempts(yield* HttpClient.HttpClient, timeout)
    const v1 = yield* HttpApiClient.makeWith(TocsinApi, { httpClient, baseUrl })
    const ops = yield* HttpApiClient.makeWith(OpsApi, { httpClient, baseUrl })
    return { ...v1, ...ops }
  },
  (clients, options) => Effect.provide(clients, middleware(options)),
)

/** {@link clientsOf} as it comes. */
export type Clients = Effect.Success<ReturnType<typeof clientsOf>>

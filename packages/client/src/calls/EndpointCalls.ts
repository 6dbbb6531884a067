import { TocsinApi } from "@tocsin/adapter-http/api"
import { AgentAuthentication, OperatorAuthentication } from "@tocsin/adapter-http/api/Authentication"
import { OpsApi } from "@tocsin/adapter-http/api/OpsApi"
import { Effect, Layer, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import type { ReadOptions } from "../options/ClientOptions.ts"
import { boundedAttempts } from "../sending/attempt.ts"
import { repeated } from "../sending/repeated.ts"
import { type CallError, toClientError } from "../sending/toClientError.ts"
import { TocsinClientError } from "../TocsinClientError.ts"
import { endpointCodecs, type EndpointName } from "./endpoints.ts"

const bearing = (request: HttpClientRequest.HttpClientRequest, token: Redacted.Redacted | undefined) =>
  token === undefined ? request : HttpClientRequest.bearerToken(request, token)

/** Authenticates requests, and retries the safe ones: those of agents, and reads of operators. */
const middleware = (options: ReadOptions) =>
  Layer.merge(
    HttpApiMiddleware.layerClient(AgentAuthentication, ({ next, request }) =>
      repeated(next(bearing(request, options.agentKey)), request, options),
    ),
    HttpApiMiddleware.layerClient(OperatorAuthentication, ({ endpoint, next, request }) => {
      const attempt = next(bearing(request, options.token))
      return endpoint.method === "GET" ? repeated(attempt, request, options) : attempt
    }),
  )

const missing = (secret: string) =>
  new TocsinClientError(
    "unauthorized",
    `this call needs the client's option ${secret}; give it when you make the client`,
  )

type Methods = Readonly<Record<EndpointName, (request: unknown) => Effect.Effect<unknown, CallError>>>

/** The calls of every endpoint on plain data, and the probes, which need no secret. */
export const endpointCalls = Effect.fnUntraced(
  function* (options: ReadOptions) {
    const { baseUrl, origin } = options
    const httpClient = boundedAttempts(yield* HttpClient.HttpClient, options)
    const v1 = yield* HttpApiClient.makeWith(TocsinApi, { httpClient, baseUrl })
    const ops = yield* HttpApiClient.makeWith(OpsApi, { httpClient, baseUrl })
    // `read` gives each method what it takes, by the schema of its endpoint.
    const methods = {
      ...v1.agents,
      ...v1.operators,
      ...ops.agents,
      ...ops.operations,
      ...ops.operators,
      ...ops.incidentActs,
      ...ops.policy,
      ...ops.silences,
    } as unknown as Methods
    const withClientErrors = toClientError(origin)
    return {
      call: (endpoint: EndpointName) => {
        const { read, write } = endpointCodecs[endpoint]
        const secret = endpoint in v1.agents || endpoint in ops.agents ? "agentKey" : "token"
        return Effect.fnUntraced(function* (...input: ReadonlyArray<unknown>) {
          const request = yield* Effect.mapError(
            Effect.fromResult(read(...input)),
            ({ message }) => new TocsinClientError("validation", message),
          )
          if (options[secret] === undefined) return yield* Effect.fail(missing(secret))
          return write(yield* withClientErrors(methods[endpoint](request)))
        })
      },
      health: () => withClientErrors(v1.health.health()),
      isReady: () =>
        withClientErrors(
          v1.health.ready().pipe(
            Effect.as(true),
            Effect.catchTag("NotReady", () => Effect.succeed(false)),
          ),
        ),
    }
  },
  (calls, options) => Effect.provide(calls, middleware(options)),
)

/** What {@link endpointCalls} makes. */
export type EndpointCalls = Effect.Success<ReturnType<typeof endpointCalls>>

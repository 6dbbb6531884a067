import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { AgentAuthentication, OperatorAuthentication } from "@tocsin/contract/api/operation"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { Effect, Layer, type Redacted, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import type { ReadOptions } from "../options/ClientOptions.ts"
import { boundedAttempts, repeated } from "../sending/attempt.ts"
import { type CallError, toClientError } from "../sending/toClientError.ts"
import { TocsinClientError } from "../TocsinClientError.ts"
import { changesOf } from "./changes.ts"
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

const noStream = (origin: string) =>
  new TocsinClientError(
    "unexpected_answer",
    `${origin} answered without a stream; is it a Tocsin of this version, and does no proxy answer instead?`,
  )

type Methods = Readonly<Record<EndpointName, (request: unknown) => Effect.Effect<unknown, CallError>>>

/** The calls of every endpoint on plain data, and the probes, which need no secret. */
export const endpointCalls = Effect.fnUntraced(
  function* (options: ReadOptions) {
    const { baseUrl, origin } = options
    const unbounded = yield* HttpClient.HttpClient
    const httpClient = boundedAttempts(unbounded, options)
    const v1 = yield* HttpApiClient.makeWith(TocsinApi, { httpClient, baseUrl })
    const ops = yield* HttpApiClient.makeWith(OpsApi, { httpClient, baseUrl })
    const testNotifier = yield* HttpApiClient.endpoint(OpsApi, {
      group: "operations",
      endpoint: "testNotifier",
      httpClient: boundedAttempts(unbounded, { ...options, timeout: options.testTimeout }),
      baseUrl,
    })
    // `read` gives each method what it takes, by the schema of its endpoint.
    const methods = {
      ...v1.agents,
      ...v1.operators,
      ...ops.agents,
      ...ops.operations,
      testNotifier,
      ...ops.operators,
      ...ops.integrations,
      ...ops.incidentActions,
      ...ops.policy,
      ...ops.silences,
    } as unknown as Methods
    const withClientErrors = toClientError(origin)
    const call = (endpoint: EndpointName) => {
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
    }
    return {
      call,
      changes: () =>
        options.token === undefined
          ? Stream.fail(missing("token"))
          : changesOf(unbounded, options, {
              authorized: (request) => bearing(request, options.token),
              // Another read with the token fails with the reason.
              refusal: Effect.andThen(call("me")(), Effect.fail(noStream(origin))),
            }),
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

/** The result of {@link endpointCalls}. */
export type EndpointCalls = Effect.Success<ReturnType<typeof endpointCalls>>

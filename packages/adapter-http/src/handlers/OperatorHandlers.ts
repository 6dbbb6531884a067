import type { PayloadTooLarge, Validation } from "@tocsin/contract/api/ApiErrors"
import type { IgnoredBody, OperatorAuthentication, ValidParameters } from "@tocsin/contract/api/operation"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { Readiness } from "@tocsin/core/health/Readiness"
import { type Context, Effect, type Layer, type Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { readBody, readText } from "../request/RequestBody.ts"
import { answeringMatch, type CoreError, fail } from "../response/failures.ts"
import { opsUseCases, v1UseCases } from "./useCases.ts"

type Arrived = object & { readonly request: HttpServerRequest.HttpServerRequest }

/** The handlers of a group, while they are registered. */
interface Handlers {
  readonly handle: (name: string, handler: (given: never) => Effect.Effect<unknown, unknown>) => unknown
  readonly handleRaw: (name: string, handler: (given: Arrived) => Effect.Effect<unknown, unknown>) => unknown
}

/** Reads the body of a request, for the contract's messages. */
type ReadBody = (
  request: HttpServerRequest.HttpServerRequest,
) => Effect.Effect<unknown, PayloadTooLarge | Validation>

/** By the names of the endpoints of a group that take a body. */
const bodyReaders = <ApiId extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  name: string,
): ReadonlyMap<string, ReadBody> => {
  const readers = new Map<string, ReadBody>()
  HttpApi.reflect(api, {
    predicate: ({ group: { identifier } }) => identifier === name,
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      for (const { encoding, schemas } of endpoint.payload.values()) {
        // Schemas of bodies need no services.
        const schema = schemas[0] as Schema.ConstraintDecoder<unknown>
        const isText = encoding._tag === "Text"
        readers.set(endpoint.identifier, isText ? readText : (request) => readBody(request, schema))
      }
    },
  })
  return readers
}

/** Answers the requests to a group of an API: each endpoint calls the use case of its name. */
const group = <
  ApiId extends string,
  Groups extends HttpApiGroup.Constraint,
  const Name extends HttpApiGroup.Identifier<Groups>,
  R,
>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  name: Name,
  makeUseCases: (
    services: Context.Context<R>,
  ) => Readonly<Record<string, (request: never) => Effect.Effect<unknown, CoreError>>>,
) => {
  const readers = bodyReaders(api, name)
  const register = Effect.fnUntraced(function* (handlers: Handlers) {
    for (const [endpoint, useCase] of Object.entries(makeUseCases(yield* Effect.context<R>()))) {
      const answer = (request: object) => answeringMatch(useCase(request as never))
      const read = readers.get(endpoint)
      if (read === undefined) handlers.handle(endpoint, answer)
      else
        handlers.handleRaw(endpoint, (given) =>
          Effect.flatMap(read(given.request), (payload) => answer({ ...given, payload })),
        )
    }
    return handlers
  })
  // The use cases satisfy the endpoints of their group where they are declared.
  return HttpApiBuilder.group(api, name, register as never) as unknown as Layer.Layer<
    HttpApiGroup.Service<ApiId, Name>,
    never,
    R | IgnoredBody | OperatorAuthentication | ValidParameters
  >
}

/** The operators' endpoints of /api/v1. */
export const v1 = group(
  TocsinApi,
  "operators",
  (services: Parameters<typeof v1UseCases>[0]) => v1UseCases(services).operators,
)

const opsGroup = <const Name extends keyof ReturnType<typeof opsUseCases>>(name: Name) =>
  group(OpsApi, name, (services: Parameters<typeof opsUseCases>[0]) => opsUseCases(services)[name])

/** The operators' endpoints of /ops/v1. */
export const ops = [
  opsGroup("operations"),
  opsGroup("operators"),
  opsGroup("integrations"),
  opsGroup("enrolments"),
  opsGroup("incidentActions"),
  opsGroup("policy"),
  opsGroup("watches"),
  opsGroup("silences"),
] as const

const ok = { status: "ok" } as const
const notReady = fail({
  code: "not_ready",
  message: "the storage is unreachable or refuses writes, or the service is shutting down",
})

/** The endpoints for probes (docs/rules.md#health-and-readiness). */
export const health = HttpApiBuilder.group(
  TocsinApi,
  "health",
  Effect.fnUntraced(function* (handlers) {
    const { isReady } = yield* Readiness
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () => Effect.flatMap(isReady, (ready) => (ready ? Effect.succeed(ok) : notReady)))
  }),
)

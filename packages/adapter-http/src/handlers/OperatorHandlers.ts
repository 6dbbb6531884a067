import { LONGEST_TRIED } from "@tocsin/contract/integrations/Mails"
import type { NumbersAnswer } from "@tocsin/contract/numbers/Numbers"
import type { PayloadTooLarge, Validation } from "@tocsin/contract/api/ApiErrors"
import type { IgnoredBody, OperatorAuthentication, ValidParameters } from "@tocsin/contract/api/operation"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import type { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import type { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { type Context, Effect, type Layer, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { MAX_BODY_BYTES, readBody, readText } from "../request/RequestBody.ts"
import { actingOnce, type Arrived, type BodyCodec } from "./actingOnce.ts"
import { answeringMatch, type CoreError, fail } from "../response/failures.ts"
import { numbersResponse } from "../features/numbers/numbersResponse.ts"
import { pageResponse } from "../response/pageResponse.ts"
import { endpointsOf } from "../routes.ts"
import type { ServicesOf } from "./OpsUseCases.ts"
import { v1UseCases } from "./useCases.ts"
import { opsUseCases } from "../features.ts"

/** Answers that are too long to be encoded at once. */
const written: Readonly<Record<string, Served["write"]>> = {
  // Its use case gives what its answer is made of.
  readNumbers: (answer) => numbersResponse(answer as NumbersAnswer),
}

/** The most bytes of bodies that hold more than others: a whole mail beside its options. */
const largest: Readonly<Record<string, number>> = { tryMail: MAX_BODY_BYTES + LONGEST_TRIED }

interface Handlers {
  readonly handle: (name: string, handler: (given: never) => Effect.Effect<unknown, unknown>) => unknown
  readonly handleRaw: (name: string, handler: (given: Arrived) => Effect.Effect<unknown, unknown>) => unknown
}

type ReadBody = (
  request: HttpServerRequest.HttpServerRequest,
) => Effect.Effect<unknown, PayloadTooLarge | Validation>

interface Served {
  /** Of an act, which an idempotency key may name; absent if it only reads. */
  readonly codec?: BodyCodec
  /** Absent if it takes no body. */
  readonly read?: ReadBody
  /** Makes a long answer to a read in pieces. */
  readonly write: (answer: unknown) => Effect.Effect<unknown>
}

// Schemas of bodies need no services.
type Codec = Schema.ConstraintCodec<unknown, unknown>

const codecOf = (payload: Codec, success: Codec): BodyCodec => ({
  encodePayload: Schema.encodeUnknownSync(payload),
  encodeSuccess: Schema.encodeUnknownSync(success),
  decodeSuccess: Schema.decodeUnknownSync(success),
})

const servedBy = <ApiId extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  name: string,
): ReadonlyMap<string, Served> => {
  const ofGroup = endpointsOf(api).filter((each) => each.group === name)
  return new Map(
    ofGroup.map(({ endpoint }) => {
      const [body] = endpoint.payload.values()
      const payload = (body?.schemas[0] ?? Schema.Unknown) as Codec
      const read: ReadBody =
        body?.encoding._tag === "Text"
          ? readText
          : (request) => readBody(request, payload, largest[endpoint.identifier])
      const success = Array.from(endpoint.success) as unknown as ReadonlyArray<Codec>
      return [
        endpoint.identifier,
        {
          ...(endpoint.method !== "GET" && { codec: codecOf(payload, Schema.Union(success)) }),
          ...(body !== undefined && { read }),
          write: written[endpoint.identifier] ?? pageResponse(Schema.Union(success)),
        },
      ]
    }),
  )
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
  const served = servedBy(api, name)
  const register = Effect.fnUntraced(function* (handlers: Handlers) {
    // The frozen contract has no idempotency keys.
    const once = api.identifier === OpsApi.identifier ? yield* actingOnce : undefined
    for (const [endpoint, useCase] of Object.entries(makeUseCases(yield* Effect.context<R>()))) {
      const { codec, read, write = Effect.succeed } = served.get(endpoint) ?? {}
      const answer = (request: Arrived) =>
        once === undefined || codec === undefined
          ? Effect.flatMap(answeringMatch(useCase(request as never)), write)
          : once(codec, request, useCase(request as never))
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

export const v1 = group(TocsinApi, "operators", v1UseCases)

type OpsServices = ServicesOf<(typeof opsUseCases)[number]["make"]> | Commits | Hashing

export const ops = opsUseCases.map(({ group: name, make }) =>
  group(OpsApi, name, (services: Context.Context<OpsServices>) => make(services)),
)

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

import { IncomingMessage } from "node:http"
import { LONGEST_TRIED } from "@tocsin/contract/integrations/Mails"
import type { NumbersAnswer } from "@tocsin/contract/numbers/Numbers"
import { TopicsChanged } from "@tocsin/contract/liveViews/Topics"
import type { PayloadTooLarge, Validation } from "@tocsin/contract/api/ApiErrors"
import type { IgnoredBody, OperatorAuthentication, ValidParameters } from "@tocsin/contract/api/operation"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import type { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import type { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { TopicFeed, type UnreadTopics } from "@tocsin/core/heart/usecases/TopicFeed"
import { Clock, type Context, Duration, Effect, type Layer, Option, Record, Schema, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { IsStillAuthorized } from "../request/authentication.ts"
import { MAX_BODY_BYTES, readBody, readText } from "../request/RequestBody.ts"
import { actingOnce, type Arrived, type BodyCodec } from "./actingOnce.ts"
import { answeringMatch, type CoreError, fail, toApiError } from "../response/failures.ts"
import { numbersResponse } from "../features/numbers/numbersResponse.ts"
import { pageResponse } from "../response/pageResponse.ts"
import { endpointsOf } from "../routes.ts"
import type { ServicesOf } from "./OpsUseCases.ts"
import { opsUseCases, v1UseCases } from "./useCases.ts"

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

type OpsServices = ServicesOf<(typeof opsUseCases)[keyof typeof opsUseCases]> | Commits | Hashing

/** The operators' groups of /ops/v1. */
export const ops = Record.keys(opsUseCases).map((name) =>
  group(OpsApi, name, (services: Context.Context<OpsServices>) => opsUseCases[name](services)),
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

/** How often a comment is sent, for proxies, and the token is checked. */
const COMMENT_EVERY = Duration.seconds(15)

/** How long a client that does not read may keep a stream that has ended. */
const END_WITHIN = Duration.seconds(1)

const COMMENT = ": still here\n\n"
/** Makes proxies and clients see the headers immediately. */
const OPENING = ": open\n\n"

const toJson = Schema.encodeSync(Schema.fromJsonString(TopicsChanged))

const monotonicTime = Clock.clockWith((clock) => Effect.sync(() => clock.monotonicTimeNanosUnsafe()))

/** The next text of a stream, and when the next comment is due. */
const nextText = Effect.fnUntraced(function* (unread: UnreadTopics, commentAt: bigint) {
  const wait = commentAt - (yield* monotonicTime)
  const isChanged = wait > 0n && Option.isSome(yield* Effect.timeoutOption(unread.some, Duration.nanos(wait)))
  if (!isChanged) return [COMMENT, commentAt + Duration.toNanosUnsafe(COMMENT_EVERY)] as const
  return [`data: ${toJson(yield* unread.take)}\n\n`, commentAt] as const
})

const textsOf = (unread: UnreadTopics): Stream.Stream<string> =>
  Stream.unwrap(
    Effect.map(monotonicTime, (now) =>
      Stream.concat(
        Stream.succeed(OPENING),
        Stream.unfold(now + Duration.toNanosUnsafe(COMMENT_EVERY), (commentAt) =>
          nextText(unread, commentAt),
        ),
      ),
    ),
  )

/** Waits until the token is no longer accepted. A storage that is down refuses no token. */
const untilRefused = Effect.gen(function* () {
  const isStillAuthorized = Effect.orElseSucceed(yield* IsStillAuthorized, () => true)
  while (true) {
    yield* Effect.sleep(COMMENT_EVERY)
    if (!(yield* isStillAuthorized)) return
  }
})

/** Closes the connection of a client that reads too slowly to see the end. */
const endFirmly = ({ source }: HttpServerRequest.HttpServerRequest) =>
  Effect.andThen(
    Effect.sleep(END_WITHIN),
    Effect.sync(() => source instanceof IncomingMessage && source.socket.destroy()),
  )

/** The endpoint for live views (docs/rules.md#live-views). */
export const stream = HttpApiBuilder.group(
  OpsApi,
  "stream",
  Effect.fnUntraced(function* (handlers) {
    const feed = yield* TopicFeed
    const { draining } = yield* Readiness
    return handlers.handleRaw(
      "stream",
      Effect.fnUntraced(function* ({ query, request }) {
        const unread = yield* toApiError(feed.open(query.client))
        const ended = yield* Effect.cached(Effect.raceAllFirst([draining, untilRefused, unread.replaced]))
        yield* Effect.forkScoped(Effect.andThen(ended, endFirmly(request)))
        return HttpServerResponse.stream(Stream.encodeText(Stream.interruptWhen(textsOf(unread), ended)), {
          contentType: "text/event-stream",
          // nginx would keep events back, and HAProxy, where it compresses them, their ends.
          headers: { "x-accel-buffering": "no", "cache-control": "no-store, no-transform" },
        })
      }),
    )
  }),
)

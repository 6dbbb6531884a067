import * as Instant from "@tocsin/contract/formats/Instant"
import { takesKey } from "@tocsin/contract/v1/takesKey"
import { newEventId } from "@tocsin/reporting/agent/CheckReport"
import { TopicsChanged as Changed } from "@tocsin/contract/liveViews/Topics"
import { topicNames } from "@tocsin/contract/liveViews/topicNames"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { AgentAuthentication, OperatorAuthentication } from "@tocsin/contract/api/operation"
import { Duration, Effect, Layer, Option, Random, type Redacted, Schema, type Scope, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import type { ExportSpan, TopicsChanged } from "../Resources.ts"
import { TocsinClientError } from "../TocsinClientError.ts"
import type { ReadOptions } from "../options/ClientOptions.ts"
import {
  boundedAttempts,
  pauseMillis,
  repeated,
  TRANSIENT,
  withoutRedirects,
  type CallError,
  toClientError,
} from "../sending/attempt.ts"
import { exportLines } from "./exportLines.ts"
import { endpointCodecs, type EndpointName } from "./endpoints.ts"

/** The service sends something every 15 s: less means a broken connection, or a proxy that buffers. */
const SILENCE = Duration.seconds(20)
/** Events are far shorter. */
const LONGEST_EVENT = 65_536

const REFUSED = Symbol("refused")

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.toEncoded(Changed)))

const isTopic = Schema.is(Schema.Literals(topicNames))

/** A newer service may have more topics, which concern any list of this version. */
const toKnown = ({ topics, at }: (typeof Changed)["Encoded"]): TopicsChanged => ({
  topics: topics.every(isTopic) ? topics : topicNames,
  at,
})

/** Names every topic: what has changed meanwhile is unknown. */
const everything = Effect.map(Instant.now, (now): TopicsChanged => ({
  topics: topicNames,
  at: Instant.format(now),
}))

/** The events in the text of one connection. The first text, a comment, names every topic. */
const eventsIn = <E>(texts: Stream.Stream<string, E>): Stream.Stream<TopicsChanged, E> =>
  Stream.suspend(() => {
    let rest = ""
    const read = (text: string): ReadonlyArray<TopicsChanged> => {
      const parts = (rest + text).replaceAll("\r\n", "\n").split("\n\n")
      rest = (parts.pop() ?? "").slice(-LONGEST_EVENT)
      return parts.flatMap((part) =>
        part.startsWith("data:")
          ? Option.toArray(Option.map(decode(part.slice("data:".length)), toKnown))
          : [],
      )
    }
    let isOpen = false
    const opening = Effect.suspend(() => {
      if (isOpen) return Effect.succeed([])
      isOpen = true
      return Effect.map(everything, (all) => [all])
    })
    return Stream.flattenIterable(
      Stream.mapEffect(texts, (text) => Effect.map(opening, (all) => [...all, ...read(text)])),
    )
  })

/**
 * The topics to fetch again, over one connection after another. Fails only as `refusal` does, which
 * looks for the reason when the service refuses the stream.
 */
const changesOf = <E>(
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  refusal: Effect.Effect<never, E>,
): Stream.Stream<TopicsChanged, E> => {
  const scoped = HttpClient.withScope(client)
  const opened = scoped.execute(request).pipe(
    Effect.updateContext(withoutRedirects<Scope.Scope>),
    Effect.map(({ headers, status, stream }): Stream.Stream<TopicsChanged, unknown> => {
      if (status === 200 && headers["content-type"]?.startsWith("text/event-stream") === true)
        return eventsIn(Stream.decodeText(stream))
      return TRANSIENT.has(status) ? Stream.empty : Stream.fail(REFUSED)
    }),
  )
  const connection = Stream.unwrap(opened).pipe(
    Stream.timeoutOrElse({ duration: SILENCE, orElse: () => Stream.fromEffect(everything) }),
    Stream.catch((error) => (error === REFUSED ? Stream.fromEffect(refusal) : Stream.empty)),
  )
  return Stream.suspend(() => {
    let ended = 0
    const pause = Effect.flatMap(Random.next, (random) => {
      ended += 1
      return Effect.sleep(pauseMillis(ended, undefined, random))
    })
    return connection.pipe(
      Stream.tap(() =>
        Effect.sync(() => {
          ended = 0
        }),
      ),
      Stream.concat(Stream.drain(Stream.fromEffect(pause))),
      Stream.forever,
    )
  })
}

const bearing = (request: HttpClientRequest.HttpClientRequest, token: Redacted.Redacted | undefined) =>
  token === undefined ? request : HttpClientRequest.bearerToken(request, token)

/** Authenticates requests, and retries the safe ones: those of agents, reads of operators, and acts with a key (docs/rules.md#acting-once). */
const middleware = (options: ReadOptions) =>
  Layer.merge(
    HttpApiMiddleware.layerClient(AgentAuthentication, ({ next, request }) =>
      repeated(next(bearing(request, options.agentKey)), request, options),
    ),
    HttpApiMiddleware.layerClient(OperatorAuthentication, ({ endpoint, next, request }) => {
      const bearer = bearing(request, options.token)
      if (endpoint.method === "GET") return repeated(next(bearer), request, options)
      if (!takesKey(endpoint.method, endpoint.path)) return next(bearer)
      const keyed = HttpClientRequest.setHeader(bearer, "idempotency-key", newEventId())
      return repeated(next(keyed), request, options)
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
    // `read` gives each method what it takes, by the schema of its endpoint.
    const { health: _, ...ofSecrets } = v1
    const groups = [ofSecrets, ops].flatMap<object>(Object.values)
    const methods: Methods = Object.assign({}, ...groups)
    const exported = yield* exportLines(unbounded, options)
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
      export: (span: ExportSpan) =>
        options.token === undefined ? Stream.fail(missing("token")) : exported(span),
      changes: () =>
        options.token === undefined
          ? Stream.fail(missing("token"))
          : changesOf(
              unbounded,
              bearing(HttpClientRequest.get(`${baseUrl}/ops/v1/stream`), options.token),
              // Another read with the token fails with the reason.
              Effect.andThen(call("me")(), Effect.fail(noStream(origin))),
            ),
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

export type EndpointCalls = Effect.Success<ReturnType<typeof endpointCalls>>

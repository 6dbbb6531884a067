import { IncomingMessage } from "node:http"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { TopicsChanged } from "@tocsin/contract/liveViews/Topics"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { TopicFeed, type UnreadTopics } from "@tocsin/core/heart/usecases/TopicFeed"
import { Clock, Duration, Effect, Option, Schema, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { IsStillAuthorized } from "../request/authentication.ts"
import { toApiError } from "../response/failures.ts"

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

import * as Instant from "@tocsin/contract/Instant"
import { topicNames, TopicsChanged as Changed } from "@tocsin/contract/Topics"
import { Duration, Effect, Option, Random, Schema, type Scope, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { ReadOptions } from "../options/ClientOptions.ts"
import { pauseMillis, TRANSIENT, withoutRedirects } from "../sending/attempt.ts"
import type { TopicsChanged } from "../Resources.ts"

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
export const changesOf = <E>(
  client: HttpClient.HttpClient,
  { baseUrl }: Pick<ReadOptions, "baseUrl">,
  {
    authorized,
    refusal,
  }: {
    readonly authorized: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
    readonly refusal: Effect.Effect<never, E>
  },
): Stream.Stream<TopicsChanged, E> => {
  const scoped = HttpClient.withScope(client)
  const request = authorized(HttpClientRequest.get(`${baseUrl}/ops/v1/stream`))
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

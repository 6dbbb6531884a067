import { Duration, Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, type HttpClientRequest } from "effect/http"

/** As long as OpenTelemetry's own exporters wait for an answer. */
const ANSWER_WITHIN = Duration.seconds(10)
/** Requests without an answer, of a thousand spans or lines each: some tens of megabytes. */
const MOST_WAITING = 16

/** Is not tried again: the exporter sends nothing for a minute, and keeps nothing. */
const givenUp = (request: HttpClientRequest.HttpClientRequest, description: string) =>
  Effect.fail(
    new HttpClientError.HttpClientError({
      reason: new HttpClientError.EncodeError({ request, description }),
    }),
  )

/**
 * Sends to a collector. Effect's exporter holds each request until its answer: of a collector that takes
 * connections and does not answer, that is everything since.
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (client) => {
    let waiting = 0
    const leave = Effect.sync(() => {
      waiting -= 1
    })
    return HttpClient.transform(client, (answer, request) =>
      Effect.suspend(() => {
        if (waiting >= MOST_WAITING) return givenUp(request, `${waiting} requests wait for the collector`)
        waiting += 1
        // A body that does not end is no answer either.
        const whole = Effect.tap(answer, (response) => Effect.ignore(response.arrayBuffer))
        return Effect.timeoutOrElse(whole, {
          duration: ANSWER_WITHIN,
          orElse: () => givenUp(request, "the collector does not answer"),
        }).pipe(Effect.ensuring(leave))
      }),
    )
  }),
).pipe(Layer.provide(FetchHttpClient.layer))

import { Context, type Duration, Effect, Stream } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse,
} from "effect/http"

/** Why an attempt was given up: the cause of a transport error. */
export class AttemptTimedOut extends Error {
  override readonly name = "AttemptTimedOut"
}

/** A failure of an attempt whose answer did not come in time. */
export const timedOut = (
  request: HttpClientError.TransportError["request"],
): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, cause: new AttemptTimedOut() }),
  })

/** The most that an answer may hold: a page of 500 results, each of 8 KiB of output, is 4 MiB. */
const LARGEST_ANSWER_BYTES = 16 * 2 ** 20

/** Why an answer was not read to its end: the cause of a decoding error. */
export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge"
}

type Answer = HttpClientResponse.HttpClientResponse

const tooLarge = (response: Answer): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.DecodeError({
      request: response.request,
      response,
      cause: new AnswerTooLarge(),
    }),
  })

const broken = ({ request }: Answer, cause: unknown): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })

const bodyOf = Effect.fnUntraced(function* (response: Answer) {
  if (Number(response.headers["content-length"]) > LARGEST_ANSWER_BYTES) {
    return yield* Effect.fail(tooLarge(response))
  }
  const chunks: Array<Uint8Array> = []
  let length = 0
  yield* Stream.runForEach(response.stream, (chunk) => {
    chunks.push(chunk)
    length += chunk.length
    return length > LARGEST_ANSWER_BYTES ? Effect.fail(tooLarge(response)) : Effect.void
  })
  const body = new Uint8Array(length)
  for (const chunk of chunks.toReversed()) {
    length -= chunk.length
    body.set(chunk, length)
  }
  return body
})

/** The answer once all of its body has come: a connection that breaks half-way fails the attempt, not its reader. */
const whole = (response: Answer): Effect.Effect<Answer, HttpClientError.HttpClientError> =>
  bodyOf(response).pipe(
    Effect.map((body) => HttpClientResponse.fromWeb(response.request, new Response(body, response))),
    Effect.catch((error) => {
      // Without a body there is nothing to wait for.
      if (error.reason._tag === "EmptyBodyError") return Effect.succeed(response)
      if ("cause" in error.reason && error.reason.cause instanceof AnswerTooLarge) return Effect.fail(error)
      return Effect.fail(broken(response, "cause" in error.reason ? error.reason.cause : error.reason))
    }),
  )

// A redirected POST would arrive as a GET (Fetch, HTTP-redirect fetch): a redirect is told instead of followed.
const withoutRedirects = (context: Context.Context<never>): Context.Context<never> =>
  Context.add(context, FetchHttpClient.RequestInit, {
    ...Context.getOrUndefined(context, FetchHttpClient.RequestInit),
    redirect: "manual",
  })

/** A client each of whose requests ends, body and all, within `timeout`; then its connection is closed. */
export const boundedAttempts = (
  client: HttpClient.HttpClient,
  timeout: Duration.Duration,
): HttpClient.HttpClient => {
  const scoped = HttpClient.withScope(client)
  const attempt = (request: HttpClientRequest.HttpClientRequest) =>
    scoped
      .execute(request)
      .pipe(
        Effect.flatMap(whole),
        Effect.scoped,
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(timedOut(request)) }),
        Effect.updateContext(withoutRedirects),
      )
  return HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap(attempt),
    Effect.succeed,
  )
}

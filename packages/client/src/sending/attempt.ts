import { Context, type Duration, Effect } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  type HttpClientResponse,
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

/** The answer once all of its body has come: a connection that breaks half-way fails the attempt, not its reader. */
const whole = (
  response: HttpClientResponse.HttpClientResponse,
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> =>
  Effect.as(response.arrayBuffer, response).pipe(
    Effect.mapError(
      ({ reason }) =>
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({
            request: response.request,
            cause: "cause" in reason ? reason.cause : reason,
          }),
        }),
    ),
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

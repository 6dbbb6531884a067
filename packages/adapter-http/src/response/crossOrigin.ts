import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import type { AllowedOrigins } from "../request/AllowedOrigins.ts"

type Request = Pick<HttpServerRequest.HttpServerRequest, "method" | "headers">

/** Headers that pages may send besides the safelisted ones (Fetch, CORS). */
const REQUEST_HEADERS =
  "authorization, baggage, content-type, idempotency-key, if-match, traceparent, tracestate, x-request-id"
/** Headers that pages may read besides the safelisted ones (Fetch, CORS). */
const EXPOSED_HEADERS = "retry-after, www-authenticate, x-request-id"
/** In seconds: the longest time for which Chromium keeps an answer. */
const MAX_AGE = "7200"

/** How a server answers pages of other origins (CORS). */
export interface CrossOrigin {
  /** The answer to a preflight request; `undefined` for another request or a refused page. */
  readonly preflight: (
    request: Request,
    methods: ReadonlyArray<string>,
  ) => HttpServerResponse.HttpServerResponse | undefined
  /**
   * The CORS fields of an answer or error: without them, the page can read neither status nor body.
   */
  readonly fields: (request: Request) => Readonly<Record<string, string>>
}

/** Without allowed origins there are no CORS headers. */
const none: CrossOrigin = { preflight: () => undefined, fields: () => ({}) }

/**
 * Answers for pages of these origins. There is no mode with credentials: callers send a bearer
 * token, and the service sets no cookie. Effect's middleware would answer every OPTIONS with
 * success and the same methods, for any path and origin.
 */
export const crossOrigin = (allowed: AllowedOrigins | undefined): CrossOrigin => {
  if (allowed === undefined) return none
  const isForAll = allowed === "*"
  const origins = new Set(isForAll ? [] : allowed)
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && (isForAll || origins.has(origin))

  const fields = ({ method, headers }: Request): Readonly<Record<string, string>> => {
    const origin = headers["origin"]
    // No cache keeps answers to changes, so only those to browsers need a Vary.
    const vary = !isForAll && (origin !== undefined || method !== "POST") && { vary: "Origin" }
    return {
      ...vary,
      ...(isAllowed(origin) && {
        "access-control-allow-origin": isForAll ? "*" : origin,
        "access-control-expose-headers": EXPOSED_HEADERS,
      }),
    }
  }

  return {
    fields,
    preflight: ({ method, headers }, methods) =>
      method === "OPTIONS" &&
      headers["access-control-request-method"] !== undefined &&
      isAllowed(headers["origin"]) &&
      methods.length > 0
        ? HttpServerResponse.empty({
            status: 204,
            headers: {
              "access-control-allow-methods": methods.join(", "),
              "access-control-allow-headers": REQUEST_HEADERS,
              "access-control-max-age": MAX_AGE,
            },
          })
        : undefined,
  }
}

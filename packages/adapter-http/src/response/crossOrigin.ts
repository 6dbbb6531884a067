import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import type { AllowedOrigins } from "../request/AllowedOrigins.ts"

type Request = Pick<HttpServerRequest.HttpServerRequest, "method" | "headers">

/** What pages may send besides what they always may (Fetch, CORS-safelisted request-header). */
const REQUEST_HEADERS = "authorization, baggage, content-type, traceparent, tracestate, x-request-id"
/** What pages may read besides what they always may (Fetch, CORS-safelisted response-header name). */
const EXPOSED_HEADERS = "retry-after, www-authenticate, x-request-id"
/** In seconds: what Chromium keeps an answer for at most. */
const MAX_AGE = "7200"

/** How a server answers pages of other origins (CORS). */
export interface CrossOrigin {
  /** The answer to a browser that asks before a page's request; `undefined` where it does not ask, or the page may not. */
  readonly preflight: (
    request: Request,
    methods: ReadonlyArray<string>,
  ) => HttpServerResponse.HttpServerResponse | undefined
  /** The header fields of an answer, an error's too: without them its page reads neither status nor body. */
  readonly fields: (request: Request) => Readonly<Record<string, string>>
}

/** Without allowed origins nothing tells that there is such a thing. */
const none: CrossOrigin = { preflight: () => undefined, fields: () => ({}) }

/**
 * Answers for pages of these origins. There is no mode with credentials: callers send a bearer token, and the service sets no
 * cookie. Effect's own middleware answers every OPTIONS with success and the same methods, whatever the path and the origin.
 */
export const crossOrigin = (allowed: AllowedOrigins | undefined): CrossOrigin => {
  if (allowed === undefined) return none
  const isForAll = allowed === "*"
  const origins = new Set(isForAll ? [] : allowed)
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && (isForAll || origins.has(origin))

  const fields = ({ method, headers }: Request): Readonly<Record<string, string>> => {
    const origin = headers["origin"]
    // Answers to changes are kept by no cache, so that only those to browsers need to say on what they depend.
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

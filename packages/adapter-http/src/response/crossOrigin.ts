import { Result } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"

/** The origins whose pages may read answers, as browsers name them; `*` for every page. */
export type AllowedOrigins = "*" | ReadonlyArray<string>

const EVERY = "*"
const TAKES = "origins such as https://dashboard.example, or * alone"

/** Origins of apps and extensions, which URL does not parse as such: capacitor://localhost. */
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^\s/?#@,*]+$/

/** The fault of an origin; it completes "… must be origins, but …". */
const faultOf = (text: string): string | undefined => {
  if (text === EVERY) return "* allows every origin, so the others must go"
  if (text === "null") return "null is what any sandboxed page sends, so it names no origin"
  if (OTHER_SCHEME.test(text)) return undefined
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || text.includes("*")) return `${shown(text)} is none`
  return url.origin === text ? undefined : `${shown(text)} is not how browsers send it: write ${url.origin}`
}

const LONGEST_ECHO = 64
const shown = (text: string): string => JSON.stringify(text.slice(0, LONGEST_ECHO))

/**
 * Reads a list of origins; a failure completes "… must be". Origins are compared exactly, so each
 * must be written as browsers send it: in lower case, without a path, a final slash, or the default
 * port of its scheme.
 */
export const parseAllowedOrigins = (texts: ReadonlyArray<string>): Result.Result<AllowedOrigins, string> => {
  const [first, ...others] = texts
  if (first === undefined) return Result.fail(TAKES)
  if (first === EVERY && others.length === 0) return Result.succeed(EVERY)
  const fault = texts.map(faultOf).find((found) => found !== undefined)
  return fault === undefined ? Result.succeed(texts) : Result.fail(`${TAKES}; ${fault}`)
}

type Request = Pick<HttpServerRequest.HttpServerRequest, "method" | "headers">

/** Headers that pages may send besides the safelisted ones (Fetch, CORS). */
const REQUEST_HEADERS =
  "authorization, baggage, content-type, idempotency-key, if-match, traceparent, tracestate, x-request-id"
/** Headers that pages may read besides the safelisted ones (Fetch, CORS). */
const EXPOSED_HEADERS = "retry-after, www-authenticate, x-request-id"
/** In seconds: the longest time for which Chromium keeps an answer. */
const MAX_AGE = "7200"

/**
 * Answers for pages of these origins (CORS); none unless given. There is no mode with credentials: callers send a bearer
 * token, and the service sets no cookie. Effect's middleware would answer every OPTIONS with
 * success and the same methods, for any path and origin.
 */
export const crossOrigin = (allowed: AllowedOrigins | undefined) => {
  const isForAll = allowed === "*"
  const origins = new Set(isForAll ? [] : allowed)
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && (isForAll || origins.has(origin))

  /** The fields of an answer or error: without them, the page can read neither status nor body. */
  const fields = ({ method, headers }: Request): Readonly<Record<string, string>> => {
    if (allowed === undefined) return {}
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
    /** The answer to a preflight request; `undefined` for another request or a refused page. Every page may ask for what is public. */
    preflight: ({ method, headers }: Request, methods: ReadonlyArray<string>, isPublic: boolean) =>
      method === "OPTIONS" &&
      headers["access-control-request-method"] !== undefined &&
      (isAllowed(headers["origin"]) || (isPublic && headers["origin"] !== undefined)) &&
      methods.length > 0
        ? HttpServerResponse.empty({
            status: 204,
            headers: {
              ...(isPublic && { "access-control-allow-origin": EVERY }),
              "access-control-allow-methods": methods.join(", "),
              "access-control-allow-headers": REQUEST_HEADERS,
              "access-control-max-age": MAX_AGE,
            },
          })
        : undefined,
  }
}

import { Context, Result } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"

/** The id of the current request, in the header X-Request-Id and in error bodies. */
export const RequestId = Context.Reference<string>("@tocsin/adapter-http/request/RequestId", {
  defaultValue: () => "",
})

const INBOUND = /^[A-Za-z0-9._:-]{1,128}$/

/** The id that a client gave its request, if it is well-formed (docs/rules.md#request-ids). */
export const inboundRequestId = (header: string | undefined): string | undefined =>
  header !== undefined && INBOUND.test(header) ? header : undefined

export interface Answered {
  readonly requestId: string
  /** Whether the connection closes after this answer. */
  readonly isFinal: boolean
}

/**
 * The header fields of every answer, to agents too: its request id (docs/rules.md#request-ids), no
 * caching, and no guessing at the content type. Agents would pay for more (docs/decisions/0015).
 */
export const fieldsOfEvery = ({ requestId, isFinal }: Answered): Record<string, string> => ({
  "x-request-id": requestId,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  ...(isFinal && { connection: "close" }),
})

const MILLIS_PER_SECOND = 1_000

let second = 0
let date = ""

/**
 * A time in the form of the field Date, formatted once a second. Agents follow it, so it is of the
 * service's clock, and not the machine's, which node:http would write.
 */
export const httpDate = (millis: number): string => {
  const now = Math.floor(millis / MILLIS_PER_SECOND)
  if (now !== second) {
    second = now
    date = new Date(now * MILLIS_PER_SECOND).toUTCString()
  }
  return date
}

type Fields = Readonly<Record<string, string>>

/** The methods whose answers a browser may show to a person. */
const SHOWN = new Set(["GET", "HEAD"])

/** The header fields of answers that a browser may show. */
const FIELDS = {
  // An answer of any type runs nothing, loads nothing, and stands in no frame.
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // No page of another origin embeds it; CORS, where it is allowed, is asked for separately (Fetch,
  // 3.7).
  "cross-origin-resource-policy": "same-origin",
  // Paths name agents, checks and incidents.
  "referrer-policy": "no-referrer",
} as const

interface AnsweredBy extends Answered {
  readonly method: string
  /** The fields that the API adds beside these. */
  readonly more: Fields
}

/** All header fields of an answer, with its own ones (docs/decisions/0015). */
export const allFields = (own: Fields, { method, more, ...answered }: AnsweredBy): Fields => {
  const vary = [own["vary"], more["vary"]].filter((field) => field !== undefined)
  return {
    ...(SHOWN.has(method) && FIELDS),
    ...fieldsOfEvery(answered),
    ...more,
    // An answer's own fields take precedence: a page has its own policy.
    ...own,
    ...(vary.length > 0 && { vary: vary.join(", ") }),
  }
}

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

import type { IncomingMessage, ServerResponse } from "node:http"
import { errorStatus } from "@tocsin/contract/Errors"
import * as Instant from "@tocsin/contract/Instant"
import { Readiness } from "@tocsin/core/health/Readiness"
import { Ids } from "@tocsin/core/ports/Ids"
import { PublicPages } from "@tocsin/core/usecases/PublicPages"
import { Clock, Effect, LogLevel, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isSame, wantsGzip } from "../documents/StaticContent.ts"
import * as AnswerRecorder from "../response/AnswerRecorder.ts"
import { type AllowedOrigins, crossOrigin } from "../response/crossOrigin.ts"
import { errorResponse } from "../response/failures.ts"
import {
  fieldsOfEvery,
  fieldsOfShown,
  httpDate,
  inboundRequestId,
  RequestId,
} from "../response/headerFields.ts"
import { type KnownRoute, pathOf } from "../routes.ts"
import { readyAnswer, type StatusAnswer, statusAnswer } from "./statusAnswers.ts"

const PAGE = "/status/:page"
const FILE = "/status/:page/:file"

export const routes: ReadonlyArray<KnownRoute> = [PAGE, FILE].map(
  (path) => ({ method: "GET", path }) as KnownRoute,
)

const PATH = /^\/status\/([a-z0-9][a-z0-9-]{0,62})(\.json|\.atom|\/[a-z0-9-]{1,63}\.svg)?$/

/** The name of a page and its file that a path is of. */
export const statusFileOf = (path: string) => {
  const [, name, file = ""] = PATH.exec(path) ?? []
  return name === undefined ? undefined : { name, file }
}

const UNREADY =
  "This page cannot be shown now, because its states cannot be read. It will be back by itself: try again in a minute.\n"
const NO_PAGE = "no page of the policy has this address: check the names of the page and of its file"
const NO_FEED = "a feed needs SERVICE_PUBLIC_URL, the address at which readers reach this server: set it"
const RETRY_SECONDS = 15

/** Status, header fields and bytes of an answer to what a client accepts. */
const negotiated = (
  { etag, fields, gzip, plain }: StatusAnswer,
  headers: Readonly<Record<string, string | undefined>>,
) => {
  if (isSame(headers["if-none-match"], etag)) return { status: 304, fields, bytes: undefined }
  return wantsGzip(headers["accept-encoding"])
    ? { status: 200, fields: { ...fields, "content-encoding": "gzip" }, bytes: gzip }
    : { status: 200, fields, bytes: plain }
}

/** Answers with public pages to everyone (docs/rules.md#public-pages). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { find, publicUrl } = yield* PublicPages
    const answer = Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      const requestId = yield* RequestId
      const asked = statusFileOf(pathOf(url))
      const page = asked === undefined ? "unknown" : yield* find(asked.name)
      if (page === "unready")
        return HttpServerResponse.text(UNREADY, {
          status: errorStatus.not_ready,
          headers: { "retry-after": String(RETRY_SECONDS) },
        })
      const file = asked?.file ?? ""
      const making = page === "unknown" ? undefined : statusAnswer(page, file, publicUrl)
      if (making === undefined) {
        const message = page !== "unknown" && file === ".atom" ? NO_FEED : NO_PAGE
        return errorResponse({ code: "not_found", message }, requestId)
      }
      const { bytes, fields, status } = negotiated(yield* Effect.promise(() => making), headers)
      return bytes === undefined
        ? HttpServerResponse.empty({ status, headers: fields })
        : HttpServerResponse.uint8Array(bytes, {
            status,
            headers: fields,
            contentType: fields["content-type"],
          })
    })
    yield* router.add("GET", PAGE, answer)
    yield* router.add("GET", FILE, answer)
  }),
)

/** Answers a request, or leaves it to the routes. */
export type StatusFront = (message: IncomingMessage, response: ServerResponse) => boolean

/** Whether it has the one host that HTTP/1.1 demands. */
const isUsual = ({ httpVersion, rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === "host") hosts += 1
  return httpVersion === "1.1" && hosts === 1
}

const HAS_BODY = ["content-length", "transfer-encoding", "expect"]

/**
 * Answers usual requests for pages that were read less than 15 s ago, at the cost of node:http itself: a page that many
 * people look at costs operators nothing. The routes answer the same bytes.
 */
export const front = ({ allowedOrigins }: { readonly allowedOrigins?: AllowedOrigins | undefined }) =>
  Effect.gen(function* () {
    const service = Option.getOrUndefined(yield* Effect.serviceOption(PublicPages))
    const { isDraining } = yield* Readiness
    const ids = yield* Ids
    const clock = yield* Clock.Clock
    const recorder = yield* AnswerRecorder.make
    // The routes write the line of each request.
    if (service === undefined || (yield* LogLevel.isEnabled("Debug"))) return (): boolean => false
    const { fields: fieldsOfOrigin } = crossOrigin(allowedOrigins)
    return (message: IncomingMessage, response: ServerResponse): boolean => {
      const { headers, method = "", url = "" } = message
      if (!url.startsWith("/status/") || (method !== "GET" && method !== "HEAD")) return false
      if (!isUsual(message) || HAS_BODY.some((name) => name in headers) || isDraining()) return false
      const asked = statusFileOf(pathOf(url))
      const millis = clock.currentTimeMillisUnsafe()
      const now = Instant.fromMillis(millis)
      const page = asked && service.fresh(asked.name, now)
      const ready = page && readyAnswer(page, asked.file)
      if (ready === undefined) return false
      const startedAt = performance.now()
      // Node joins values of these fields.
      const given = headers as Readonly<Record<string, string | undefined>>
      const requestId = inboundRequestId(given["x-request-id"]) ?? ids.uuidV7(now)
      const { bytes, fields, status } = negotiated(ready, given)
      const origin = fieldsOfOrigin({ method, headers: given as never })
      response.writeHead(status, {
        ...fieldsOfShown(method),
        ...fieldsOfEvery({ requestId, isFinal: false }),
        ...origin,
        date: httpDate(millis),
        ...fields,
        ...(origin["vary"] !== undefined && { vary: `${fields["vary"]}, ${origin["vary"]}` }),
        ...(bytes !== undefined && { "content-length": bytes.length }),
      })
      response.end(method === "HEAD" ? undefined : bytes)
      const route = asked?.file.startsWith("/") === true ? FILE : PAGE
      const answered = { method, url, status, millis: performance.now() - startedAt, requestId }
      // Its effect would write a line.
      void recorder.of(route, method).record(answered)
      return true
    }
  })

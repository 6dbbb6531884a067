import { hash } from "node:crypto"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { Effect, Fiber } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Names a text by its content. */
export const versionOf = (text: string): string => hash("sha256", text).slice(0, 16)

/** The tag of a version. Weak, because the plain and the compressed text share it. */
export const tagOf = (version: string): string => `W/"${version}"`

/**
 * The policy of pages: they load and call only their own origin, run no inline script, and stand in
 * no frame. Style sheets contain their icons.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

/** A text ready to be served with these header fields. It is kept compressed, as most clients accept it. */
export const make = Effect.fnUntraced(function* (text: string, headers: Readonly<Record<string, string>>) {
  const compressed = yield* Effect.promise(() => compress(text))
  let inflated: Promise<Uint8Array> | undefined
  return {
    compressed,
    /** The text itself, inflated once on demand. All answers share it, even to slow clients. */
    plain: () => (inflated ??= decompress(compressed)),
    version: versionOf(text),
    headers,
  }
})
type StaticContent = Effect.Success<ReturnType<typeof make>>

/** The same for a text that clients may keep: its page refers to it by its version. */
export const makeVersioned = (text: string, type: string) =>
  make(text, { "content-type": `${type}; charset=utf-8`, "cache-control": KEPT })

const KEPT = "public, max-age=31536000, immutable"

/** Another server behind the same address may have the version that is asked for: this text is not kept as that. */
const OTHER_VERSION = { "cache-control": "no-cache" }

const wantsGzip = (header = ""): boolean => /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(header)

const weak = (etag: string): string => etag.trim().replace(/^W\//, "")

/** Whether a client has the content of this tag, by the field If-None-Match (RFC 9110, 13.1.2). */
export const isSame = (header = "", etag: string): boolean =>
  header.split(",").some((listed) => weak(listed) === weak(etag) || listed.trim() === "*")

/** How a client gets a text: not at all if it has it. */
export type Form = "unchanged" | "gzip" | "plain"

/** The form in which a client wants the text of a tag, by the header fields of its request. */
export const formOf = (etag: string, headers: Readonly<Record<string, string | undefined>>): Form => {
  if (isSame(headers["if-none-match"], etag)) return "unchanged"
  return wantsGzip(headers["accept-encoding"]) ? "gzip" : "plain"
}

/** Answers a request for a text, with 304 if the client has it. */
export const respond = Effect.fnUntraced(function* (content: StaticContent) {
  const { headers: asked, url } = yield* HttpServerRequest.HttpServerRequest
  const etag = tagOf(content.version)
  const isOther = content.headers["cache-control"] === KEPT && !url.endsWith(`?v=${content.version}`)
  const vary = content.headers["vary"] ?? "accept-encoding"
  const headers = { ...content.headers, ...(isOther && OTHER_VERSION), etag, vary }
  const form = formOf(etag, asked)
  if (form === "unchanged") return HttpServerResponse.empty({ status: 304, headers })
  return form === "gzip"
    ? HttpServerResponse.uint8Array(content.compressed, {
        headers: { ...headers, "content-encoding": "gzip" },
      })
    : HttpServerResponse.uint8Array(yield* Effect.promise(content.plain), { headers })
})

/**
 * Makes a content once, at the first request for it, in a fiber of the server, so that a client
 * that hangs up does not interrupt it.
 */
export const madeOnce = Effect.fnUntraced(function* <A>(content: Effect.Effect<A>) {
  const making = yield* Effect.cached(Effect.forkIn(content, yield* Effect.scope))
  return Effect.flatMap(making, Fiber.join)
})

export const served = (path: `/${string}`, content: Effect.Effect<StaticContent>) =>
  HttpRouter.add("GET", path, Effect.flatMap(content, respond))

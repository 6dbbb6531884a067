import { hash } from "node:crypto"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** A text that is served as it is: kept compressed, which is what nearly all ask for. */
export interface StaticContent {
  readonly compressed: Uint8Array
  /** The text itself. Inflated once, if anybody asks: all answers share it, however long their clients take to read it. */
  readonly plain: () => Promise<Uint8Array>
  /** Names this version of it. */
  readonly version: string
  readonly headers: Readonly<Record<string, string>>
}

/** Makes a text ready to be served with these header fields. */
export const make = (text: string, headers: Readonly<Record<string, string>>): Effect.Effect<StaticContent> =>
  Effect.map(
    Effect.promise(() => compress(text)),
    (compressed) => ({
      compressed,
      plain: once(() => decompress(compressed)),
      version: hash("sha256", text).slice(0, 16),
      headers,
    }),
  )

const once = (inflate: () => Promise<Uint8Array>): (() => Promise<Uint8Array>) => {
  let made: Promise<Uint8Array> | undefined
  return () => (made ??= inflate())
}

const wantsGzip = (header = ""): boolean => /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(header)

const isSame = (header = "", etag: string): boolean =>
  header.split(",").some((listed) => listed.trim() === etag || listed.trim() === "*")

/** Answers a request for a text: not again to those who have it (RFC 9110, 13.1.2). */
export const respond = Effect.fnUntraced(function* ({
  compressed,
  plain,
  version,
  headers: own,
}: StaticContent) {
  const { headers: asked } = yield* HttpServerRequest.HttpServerRequest
  // Weak, because it is the same for the text as it is and for the text compressed.
  const etag = `W/"${version}"`
  const headers = { ...own, etag, vary: "accept-encoding" }
  if (isSame(asked["if-none-match"], etag)) return HttpServerResponse.empty({ status: 304, headers })
  if (wantsGzip(asked["accept-encoding"])) {
    return HttpServerResponse.uint8Array(compressed, { headers: { ...headers, "content-encoding": "gzip" } })
  }
  return HttpServerResponse.uint8Array(yield* Effect.promise(plain), { headers })
})

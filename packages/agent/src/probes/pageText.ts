import type { IncomingHttpHeaders } from "node:http"
import * as zlib from "node:zlib"

/** Bytes of a page in which a text is looked for: one MiB. */
export const LONGEST_BODY = 1_048_576

/** No page is decompressed to more than 16 MiB. The end of a compressed one may be missing. */
const LIMITS = { maxOutputLength: 16_777_216, finishFlush: zlib.constants.Z_SYNC_FLUSH }
const BROTLI = { ...LIMITS, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }

const DECODERS = new Map<string, (bytes: Buffer) => Buffer>([
  ["identity", (bytes) => bytes],
  ["gzip", (bytes) => zlib.gunzipSync(bytes, LIMITS)],
  ["x-gzip", (bytes) => zlib.gunzipSync(bytes, LIMITS)],
  // Some servers leave out the header of zlib.
  [
    "deflate",
    (bytes) => ((bytes[0] ?? 8) % 16 === 8 ? zlib.inflateSync : zlib.inflateRawSync)(bytes, LIMITS),
  ],
  ["br", (bytes) => zlib.brotliDecompressSync(bytes, BROTLI)],
])

const decompressed = (raw: Buffer, coding: string): Buffer | undefined => {
  const codings = coding.toLowerCase().split(",").toReversed()
  try {
    return codings.reduce<Buffer | undefined>((bytes, one) => bytes && DECODERS.get(one.trim())?.(bytes), raw)
  } catch {
    return undefined
  }
}

/** Bytes in which a page may name its encoding, as in browsers. */
const PRESCAN = 1_024
const BYTE_ORDER_MARKS: ReadonlyArray<readonly [bytes: string, encoding: string]> = [
  ["\u00ef\u00bb\u00bf", "utf-8"],
  ["\u00fe\u00ff", "utf-16be"],
  ["\u00ff\u00fe", "utf-16le"],
]
const CHARSET = /;\s*charset\s*=\s*["']?\s*([^\s;"']+)/i
const MARKUP = /^$|\b(?:html|xml)\b/i
const META =
  /<meta\s[^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)|^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']+)/i

const decoded = (bytes: Buffer, label: string | undefined): string | undefined => {
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    return undefined
  }
}

/** A page as text, and the words for what a search in it depended on, which may quote its header fields. */
export const pageText = (
  { "content-encoding": coding = "identity", "content-type": type = "" }: IncomingHttpHeaders,
  raw: Buffer,
  isQuoted = true,
) => {
  const bytes = decompressed(raw, coding)
  if (bytes === undefined)
    return { body: "", isWhole: false, where: ` in its compressed form${isQuoted ? ` (${coding})` : ""}` }
  const page = bytes.subarray(0, LONGEST_BODY)
  const isWhole = bytes.length <= LONGEST_BODY
  const part = isWhole ? "" : " in its first MiB"
  const start = page.toString("latin1", 0, PRESCAN)
  const mark = BYTE_ORDER_MARKS.find(([one]) => start.startsWith(one))
  const declared = CHARSET.exec(type)?.[1]
  const markup = MARKUP.test(type) ? start.replaceAll(/<!--[^]*?(?:-->|$)/g, "") : ""
  // Markup that says UTF-16 could not be read if it were.
  const [, meta, named = meta] = META.exec(markup) ?? []
  const inMarkup = named?.replace(/^utf-?16.*/i, "utf-8")
  const first = decoded(page, mark?.[1] ?? declared ?? inMarkup)
  const body = first ?? (inMarkup === undefined ? undefined : decoded(page, inMarkup))
  if (body !== undefined) return { body, isWhole, where: part }
  // No message shows a text of the body.
  const shown = isQuoted ? ` ${declared?.slice(0, 40)}` : ""
  const name = declared === undefined ? "the charset in its markup" : `its charset${shown}`
  return { body: page.toString(), isWhole, where: `${part} as UTF-8, because ${name} is unknown` }
}

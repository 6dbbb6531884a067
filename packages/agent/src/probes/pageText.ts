import type { IncomingHttpHeaders } from "node:http"

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

/** A page as text, and the words for what a search in it depended on. */
export const pageText = ({ "content-type": type = "" }: IncomingHttpHeaders, page: Buffer) => {
  const start = page.toString("latin1", 0, PRESCAN)
  const mark = BYTE_ORDER_MARKS.find(([one]) => start.startsWith(one))
  const declared = CHARSET.exec(type)?.[1]
  const markup = MARKUP.test(type) ? start.replaceAll(/<!--[^]*?(?:-->|$)/g, "") : ""
  // Markup that says UTF-16 could not be read if it were.
  const [, meta, named = meta] = META.exec(markup) ?? []
  const label = mark?.[1] ?? declared ?? named?.replace(/^utf-?16.*/i, "utf-8")
  try {
    return { body: new TextDecoder(label).decode(page), remark: "" }
  } catch {
    // No message shows a text of the body.
    const name = declared === undefined ? "the charset in its markup" : `its charset ${declared.slice(0, 40)}`
    return { body: page.toString(), remark: ` as UTF-8, because ${name} is unknown` }
  }
}

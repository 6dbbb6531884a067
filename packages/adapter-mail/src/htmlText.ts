import PostalMime from "postal-mime"

const NAMED = /&[a-z][a-z\d]{1,31};/giu
/** No name stands for it. */
const BETWEEN = "-"

/** A mail whose text is the named characters: the parser turns HTML into text where a mail has a plain part too. */
const mailOf = (html: string): string =>
  [
    "Content-Type: multipart/mixed; boundary=B",
    "",
    "--B",
    "",
    "",
    "--B",
    "Content-Type: text/html; charset=utf-8",
    "",
    html,
    "--B--",
  ].join("\r\n")

/** How a text shows a character: each kind of blank alike, nothing that only joins. */
const shown = (character: string): string =>
  character.replace(/^[\u00a0\u2002\u2003\u2009]$/u, " ").replace(/^[\u00ad\u200c\u200d]$/u, "")

/** The characters that named entities of some HTML stand for, by the table of the parser. */
const namedEntities = async (html: string): Promise<ReadonlyMap<string, string>> => {
  const names = Array.from(new Set(html.match(NAMED)))
  if (names.length === 0) return new Map()
  const { text = "" } = await PostalMime.parse(mailOf(["", ...names, ""].join(BETWEEN)))
  const [, ...characters] = text.split(BETWEEN)
  return new Map(names.map((name, place) => [name, shown(characters[place] ?? name)]))
}

const HIGHEST = 0x10ffff

/** The character of a number, as `#228` and `#xe4` are. */
const numbered = (number: string): string => {
  const code = /^#x/iu.test(number) ? Number.parseInt(number.slice(2), 16) : Number(number.slice(1))
  if (code > HIGHEST || (code >= 0xd800 && code <= 0xdfff)) return "\ufffd"
  return code === 160 ? " " : String.fromCodePoint(code)
}

const withoutEntities = (text: string, named: ReadonlyMap<string, string>): string =>
  text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/giu, (whole, name: string) =>
    name.startsWith("#") ? numbered(name) : (named.get(whole) ?? whole),
  )

/** Elements that end a line. */
const BLOCKS: ReadonlySet<string> = new Set(
  "address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre section table tbody tfoot thead title tr ul".split(
    " ",
  ),
)
/** Elements whose text nobody sees. */
const UNSEEN: ReadonlySet<string> = new Set(["script", "style", "title", "template", "noscript"])

const TAG = /^<(\/?)([a-z][a-z\d]*)/iu

/** Where an element ends that begins at a place; the end of the text if it does not end. */
const endOf = (lower: string, name: string, from: number): number => {
  const close = lower.indexOf(`</${name}`, from)
  return close === -1 ? lower.length : close
}

/** Where a tag has an end, or a value in which that is none. */
const END_OF_TAG = /=\s*(?:"[^"]*"|'[^']*')|>/gu

/** The place of the end of a tag; -1 without one. */
const tagEnd = (html: string, open: number): number => {
  END_OF_TAG.lastIndex = open
  for (;;) {
    const found = END_OF_TAG.exec(html)
    if (found === null) return -1
    if (found[0] === ">") return found.index
  }
}

/** HTML as text: blocks and `<br>` end lines. Reads each character a bounded number of times. */
export const htmlText = async (html: string): Promise<string> => {
  const lower = html.toLowerCase().length === html.length ? html.toLowerCase() : html
  const parts: Array<string> = []
  let isInLine = false
  let at = 0
  while (at < html.length) {
    const open = html.indexOf("<", at)
    const text = (open === -1 ? html.slice(at) : html.slice(at, open)).replace(/\s+/gu, " ")
    if (text.trim() !== "") isInLine = true
    parts.push(text)
    if (open === -1) break
    if (html.startsWith("<!--", open)) {
      const close = html.indexOf("-->", open + 4)
      at = close === -1 ? html.length : close + 3
      continue
    }
    const [, slash = "", given = ""] = TAG.exec(html.slice(open, open + 32)) ?? []
    const name = given.toLowerCase()
    if (name === "" && html[open + 1] !== "!" && html[open + 1] !== "?" && html[open + 1] !== "/") {
      parts.push("<")
      isInLine = true
      at = open + 1
      continue
    }
    const close = tagEnd(html, open)
    at = close === -1 ? html.length : close + 1
    if (slash === "" && UNSEEN.has(name)) at = endOf(lower, name, at)
    if (name === "br" || (isInLine && BLOCKS.has(name))) {
      parts.push("\n")
      isInLine = false
    } else if (name === "td" || name === "th") parts.push(" ")
  }
  return withoutEntities(parts.join(""), await namedEntities(html))
    .split("\n")
    .map((line) => line.replace(/ +/gu, " ").trim())
    .filter((line, place, lines) => line !== "" || (lines[place - 1] ?? "") !== "")
    .join("\n")
    .trim()
}

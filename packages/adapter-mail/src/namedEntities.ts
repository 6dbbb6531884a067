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
export const namedEntities = async (html: string): Promise<ReadonlyMap<string, string>> => {
  const names = Array.from(new Set(html.match(NAMED)))
  if (names.length === 0) return new Map()
  const { text = "" } = await PostalMime.parse(mailOf(["", ...names, ""].join(BETWEEN)))
  const [, ...characters] = text.split(BETWEEN)
  return new Map(names.map((name, place) => [name, shown(characters[place] ?? name)]))
}

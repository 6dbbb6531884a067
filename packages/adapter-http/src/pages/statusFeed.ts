import { escapeHtml } from "@tocsin/contract/escapeHtml"
import type { BuiltPage } from "@tocsin/core/usecases/PublicPages"
import { AS_OF, COLOURS, STATE_WORDS } from "./statusPage.ts"

const KINDS = { incident: "Incident", maintenance: "Maintenance", notice: "Notice" } as const

/** XML 1.0 has no other control characters than these; a text may have them from elsewhere. */
const xml = (text: string): string =>
  escapeHtml(text.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, " "))

const entry = (
  { id, kind, published, state, text, title, updated, updates }: BuiltPage["feed"][number],
  page: string,
): string => {
  const parts = [...updates.toReversed().map((update) => `${update.at}\n${update.text}`), text]
  return `<entry>
<id>urn:uuid:${id}</id>
<title>${KINDS[kind]}: ${xml(title)}${state === "ended" ? " (ended)" : ""}</title>
<link rel="alternate" type="text/html" href="${page}"/>
<published>${published}</published>
<updated>${updated}</updated>
<category term="${kind}"/>
<content type="text">${xml(parts.join("\n\n"))}</content>
</entry>
`
}

/** The announcements of a page as Atom (RFC 4287), which needs the address of the page. */
export const statusFeed = ({ body, feed, name }: BuiltPage, publicUrl: string, shown: number): string => {
  const page = xml(`${publicUrl}/status/${name}`)
  const entries = feed.slice(0, shown)
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${page}</id>
<title>${xml(body.title)}</title>
<author><name>${xml(body.title)}</name></author>
<link rel="self" type="application/atom+xml" href="${page}.atom"/>
<link rel="alternate" type="text/html" href="${page}"/>
<updated>${
    entries
      .map(({ updated }) => updated)
      .toSorted()
      .at(-1) ?? AS_OF
  }</updated>
${entries.map((each) => entry(each, page)).join("")}</feed>
`
}

/** Some 110 pixels of a usual font have 16 characters. */
const CHARACTER = 7
const widthOf = (text: string): number => Array.from(text).length * CHARACTER + 12
const MOST_CHARACTERS = 40

const text = (words: string, x: number, width: number): string =>
  `<text x="${x + 6}" y="14" textLength="${width - 12}" lengthAdjust="spacingAndGlyphs">${xml(words)}</text>`

/** The state of a page or a line as a picture for other pages. */
export const statusBadge = (name: string, state: keyof typeof STATE_WORDS): string => {
  const characters = Array.from(name)
  const label =
    characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join("")}…` : name
  const word = STATE_WORDS[state].toLowerCase()
  const [left, right] = [widthOf(label), widthOf(word)]
  const whole = left + right
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${whole}" height="20" role="img" aria-label="${xml(name)}: ${word}"><title>${xml(name)}: ${word}</title><clipPath id="r"><rect width="${whole}" height="20" rx="3"/></clipPath><g clip-path="url(#r)"><rect width="${left}" height="20" fill="#43474e"/><rect x="${left}" width="${right}" height="20" fill="${BADGES[state]}"/></g><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(label, 0, left)}${text(word, left, right)}</g></svg>
`
}

/** White text must be legible on them. */
const BADGES: typeof COLOURS = {
  ...COLOURS,
  operational: "#1f7a3a",
  degraded: "#8a5f00",
  maintenance: "#2d62bb",
  no_data: "#656b74",
}

import type { Language } from "@tocsin/contract/languages/Language"
import { wordsOf } from "@tocsin/contract/languages/Languages"
import { fill } from "@tocsin/contract/languages/Words"
import { isCalledOff, namesOf, timesOf } from "@tocsin/contract/publicPages/announcementTexts"
import type { LineState } from "@tocsin/contract/publicPages/PublicPages"
import { escapeHtml } from "@tocsin/contract/formats/escapeHtml"
import type { BuiltPage } from "@tocsin/core/features/publicPages/PublicPages"
import { type PageTexts, pageTexts } from "./pageTexts.ts"
import { COLOURS } from "./publicPage.ts"

/** When an empty feed changed last: any announcement is newer, and it is the same at each read and on each server. */
const NEVER = "1970-01-01T00:00:00.000Z"

/** XML 1.0 has no other control characters than these; a text may have them from elsewhere. */
const xml = (text: string): string =>
  escapeHtml(text.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, " "))

/** The entries of an announcement, its updates and its end: readers of feeds show each once, and ignore what changes in it. */
const entriesOf = (
  announcement: BuiltPage["feed"][number],
  page: string,
  body: BuiltPage["body"],
  { moment, words }: PageTexts,
): ReadonlyArray<string> => {
  const { ends_at, id, kind, published, starts_at, state, text, title, updated, updates } = announcement
  const { ended, ended_early, kinds, update } = words.page
  const entry = (part: string, at: string, event: string, content: string) => `<entry>
<id>urn:uuid:${id}${part}</id>
<title>${fill(event, { title: `${kinds[kind]}: ${xml(title)}` })}</title>
<link rel="alternate" type="text/html" href="${page}"/>
<published>${at}</published>
<updated>${at}</updated>
<category term="${kind}"/>
<content type="text">${xml(content)}</content>
</entry>
`
  const where = namesOf(announcement, body)
  // As it was published, whatever has become of it.
  const first = {
    starts_at,
    ends_at: state === "ended" ? null : ends_at,
    state: starts_at > published ? "scheduled" : "open",
  } as const
  const end = isCalledOff(announcement) ? ended_early : ended
  const over = [timesOf(announcement, moment, words), ...where].join(" · ")
  return [
    entry("", published, "{title}", `${[timesOf(first, moment, words), ...where].join(" · ")}\n\n${text}`),
    ...updates.map((each, index) => entry(`#${index + 1}`, each.at, update, each.text)),
    ...(state === "ended" ? [entry("#end", ends_at ?? updated, end, over)] : []),
  ]
}

/** The announcements of a page as Atom (RFC 4287), which needs the address of the page. */
export const statusFeed = (built: BuiltPage, publicUrl: string, shown: number): string => {
  const { body, feed, name } = built
  const texts = pageTexts(built)
  const page = xml(`${publicUrl}/status/${name}`)
  const entries = feed.slice(0, shown)
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${texts.locale}">
<id>${page}</id>
<title>${xml(body.title)}</title>
<author><name>${xml(body.title)}</name></author>
<link rel="self" type="application/atom+xml" href="${page}.atom"/>
<link rel="alternate" type="text/html" href="${page}"/>
<updated>${
    feed
      .map(({ updated }) => updated)
      .toSorted()
      .at(-1) ?? NEVER
  }</updated>
${entries.flatMap((each) => entriesOf(each, page, body, texts)).join("")}</feed>
`
}

/** Pixels that characters need at most in the wide fonts of the badge. */
const characterWidth = (character: string): number =>
  character > "\u024f" ? 12 : /[A-Zmw%@]/.test(character) ? 10 : 7
const widthOf = (text: string): number =>
  Array.from(text).reduce((width, character) => width + characterWidth(character), 12)
const MOST_CHARACTERS = 40

const text = (words: string, x: number, width: number): string =>
  `<text x="${x + width / 2}" y="14">${xml(words)}</text>`

/** The state of a page or a line as a picture for other pages. */
export const statusBadge = (name: string, state: LineState, lang: Language): string => {
  const characters = Array.from(name)
  const label =
    characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join("")}…` : name
  const word = wordsOf(lang).page.states[state]
  const [left, right] = [widthOf(label), widthOf(word)]
  const whole = left + right
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${whole}" height="20" role="img" aria-label="${xml(name)}: ${word}"><title>${xml(name)}: ${word}</title><clipPath id="r"><rect width="${whole}" height="20" rx="3"/></clipPath><g clip-path="url(#r)"><rect width="${left}" height="20" fill="#43474e"/><rect x="${left}" width="${right}" height="20" fill="${BADGES[state]}"/></g><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">${text(label, 0, left)}${text(word, left, right)}</g></svg>
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

import { createHash } from "node:crypto"
import { fill } from "@tocsin/contract/languages/Words"
import { namesOf, timesOf } from "@tocsin/contract/publicPages/announcementTexts"
import { escapeHtml } from "@tocsin/contract/formats/escapeHtml"
import type {
  LineState,
  PageDay,
  PublicPageBody,
  ShownAnnouncement,
} from "@tocsin/contract/publicPages/PublicPages"
import type { BuiltPage } from "@tocsin/core/features/publicPages/PublicPages"
import { type PageTexts, pageTexts } from "./pageTexts.ts"

/** Stands for the time of a page, which its tag leaves out. */
export const AS_OF = "\u0001as of\u0001"

/** The first letter names a state in classes: there are thousands of bars. */
const classOf = (state: LineState): string => state.slice(0, 1) + (state === "degraded" ? "g" : "")

/** Of bars, badges and the icon. */
export const COLOURS: Readonly<Record<LineState, string>> = {
  operational: "#2c9a4b",
  degraded: "#e0a100",
  down: "#c5221f",
  maintenance: "#3b73d1",
  no_data: "#9aa0a8",
}

const variables = (prefix: string, colours: Readonly<Record<LineState, string>>): string =>
  Object.entries(colours)
    .map(([state, colour]) => `--${prefix}${classOf(state as LineState)}:${colour};`)
    .join("")

const rules = (of: (name: string) => string): string =>
  Object.keys(COLOURS)
    .map((state) => of(classOf(state as LineState)))
    .join("")

const LIGHT = {
  operational: "#17692f",
  degraded: "#7d5200",
  down: "#a81c19",
  maintenance: "#22539f",
  no_data: "#565d67",
}
const DARK = {
  operational: "#6fd38b",
  degraded: "#f2bd5c",
  down: "#ff8f85",
  maintenance: "#93b9ff",
  no_data: "#a7afba",
}

const STYLE = `:root{color-scheme:light dark;--ground:#f6f7f8;--card:#fff;--ink:#1d2228;--soft:#565d67;--line:#dfe3e8;${variables("b", { ...COLOURS, no_data: "#ccd2d9" })}${variables("t", LIGHT)}}
@media screen and (prefers-color-scheme:dark){:root{--ground:#13161a;--card:#1b1f25;--ink:#e8eaed;--soft:#a7afba;--line:#30353d;--bn:#3c434c;${variables("t", DARK)}}}
*{box-sizing:border-box}
body{margin:0;padding:1rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main,header,footer{max-width:52rem;margin:0 auto}
header{padding:1.5rem 0 1rem}h1{font-size:1.625rem;line-height:1.2;margin:0}
h2{font-size:1.0625rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:0}p{margin:.25rem 0 0}
time,.s,footer{color:var(--soft);font-size:.875rem}time{display:inline-block}.s{word-break:keep-all}
.state{padding:1rem 1.25rem;border-radius:.5rem;background:var(--card);border:1px solid var(--line);border-left:.5rem solid;font-size:1.25rem;font-weight:600}
.state p{font-size:.875rem;font-weight:400}.state .i{color:var(--td);font-size:1rem;font-weight:600}
ul{list-style:none;margin:0;padding:0;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
li{padding:.875rem 1.25rem}li+li{border-top:1px solid var(--line)}
.row{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem}.row b{flex:1 1 5rem}.row.s{column-gap:.5rem}.row.s span:nth-child(2){flex:1 1 5rem;text-align:center;text-wrap:balance}@media(max-width:30rem){.row.s span:nth-child(2){order:1;flex-basis:100%}}.row b{font-weight:600}
.w{font-weight:600}.w:before{content:"";display:inline-block;width:.625rem;height:.625rem;border-radius:50%;margin-right:.4rem;background:currentColor}
svg{display:block;width:100%;height:2.125rem;margin:.5rem 0 .25rem}path{fill:none;stroke-width:.72}
article{margin:.75rem 0 0;padding:.875rem 1.25rem;background:var(--card);border:1px solid var(--line);border-left:.375rem solid var(--soft);border-radius:.5rem}
article.incident{border-left-color:var(--bd)}article.maintenance{border-left-color:var(--bm)}
article .s~p{margin-top:.625rem;padding-top:.625rem;border-top:1px solid var(--line)}
h3 b{margin-right:.5rem;padding:.0625rem .5rem;border:1px solid;border-radius:1rem;color:var(--soft);font-size:.8125rem}.incident b{color:var(--td)}.maintenance b{color:var(--tm)}
${rules((name) => `.t${name}{color:var(--t${name})}.state.${name}{border-left-color:var(--b${name})}path.${name}{stroke:var(--b${name})}`)}
footer{padding:2rem 0 1rem}a{color:inherit}
@media print{:root{color-scheme:light}body{background:none;padding:0}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}li,article{break-inside:avoid}footer{display:none}}`

const HASH = createHash("sha256").update(STYLE).digest("base64")

/** It runs nothing and loads nothing. The console of its own origin may frame it. */
export const PAGE_FIELDS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${HASH}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`,
} as const

const iconOf = (state: LineState): string =>
  `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%23${COLOURS[state].slice(1)}'/%3E%3C/svg%3E`

/** A text that begins with a capital letter, where the language has one. */
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const isFaulty = ({ state }: PageDay): boolean => state !== "operational" && state !== "no_data"

const dayText = ({ date, minutes, state }: PageDay, { day, lasting, words }: PageTexts): string =>
  fill(words.page.day, { day: day(date), state: words.page.states[state], lasted: lasting(minutes) })

type Line = PublicPageBody["groups"][number]["lines"][number]

/** So many days are named to a screen reader. */
const MOST_NAMED = 10

/** A stroke for each day; those that were not operational say more, unless the page would be too long. */
const bars = (
  { days, state: now }: Line,
  since: string | undefined,
  hasDetails: boolean,
  texts: PageTexts,
): string => {
  const words = texts.words.page
  const faulty = days.filter(isFaulty)
  const stroke = (n: number) => `M${n}.5 0v9`
  const plain = new Map<LineState, string>()
  const detailed: Array<string> = []
  for (const [n, day] of days.entries())
    if (hasDetails && isFaulty(day))
      detailed.push(
        `<path class="${classOf(day.state)}" d="${stroke(n)}"><title>${dayText(day, texts)}</title></path>`,
      )
    else plain.set(day.state, (plain.get(day.state) ?? "") + stroke(n))
  const withoutFaults = days.every(({ state }) => state === "no_data")
    ? words.states.no_data
    : now === "operational"
      ? fill(since === undefined ? words.no_fault : words.no_fault_since, { day: since ?? "" })
      : fill(words.now, { state: words.states[now] })
  const label = [
    texts.counted(words.last_days, days.length),
    ...(faulty.length === 0
      ? [withoutFaults]
      : faulty
          .slice(-MOST_NAMED)
          .toReversed()
          .map((day) => dayText(day, texts))),
    ...(faulty.length > MOST_NAMED ? [fill(words.more, { n: faulty.length - MOST_NAMED })] : []),
  ].join("; ")
  return `<svg viewBox="0 0 ${days.length} 9" preserveAspectRatio="none" role="img" aria-label="${label}">${Array.from(plain, ([state, d]) => `<path class="${classOf(state)}" d="${d}"/>`).join("")}${detailed.join("\n")}</svg>`
}

/** In percent with two digits after the point, cut. */
const percentOf = (availability: number): number => Math.floor(Math.round(availability * 1_000) / 10) / 100

const lineHtml = (line: Line, hasDetails: boolean, texts: PageTexts): string => {
  const words = texts.words.page
  const { availability, days, name, state } = line
  const first = days.findIndex((day) => day.state !== "no_data")
  const firstDay = first > 0 ? days[first] : undefined
  const since = firstDay && texts.day(firstDay.date)
  const available =
    availability === null
      ? words.states.no_data
      : fill(since === undefined ? words.available : words.available_since, {
          percent: texts.number(percentOf(availability)),
          day: since ?? "",
        })
  return `<li><div class="row"><b>${escapeHtml(name)}</b> <span class="w t${classOf(state)}">${capital(words.states[state])}</span></div>
${bars(line, since, hasDetails, texts)}
<div class="row s"><span>${texts.daysAgo(days.length)}</span> <span>${available}</span> <span>${texts.today}</span></div></li>`
}

const timeHtml =
  ({ moment }: PageTexts) =>
  (at: string): string =>
    `<time datetime="${at}">${moment(at)}</time>`

const announcementHtml = (
  announcement: ShownAnnouncement,
  { body, feed }: Pick<BuiltPage, "body" | "feed">,
  texts: PageTexts,
): string => {
  const { words } = texts
  const moment = timeHtml(texts)
  const { id, kind, starts_at, text, title, updates } = announcement
  const published = feed.find((entry) => entry.id === id)?.published ?? starts_at
  const when = [timesOf(announcement, moment, words), ...namesOf(announcement, body).map(escapeHtml)]
  const said = [...updates.toReversed(), { at: published, text }]
  return `<article class="${kind}"><h3><b>${words.page.kinds[kind]}</b> ${escapeHtml(title)}</h3>
<p class="s">${when.join(" · ")}</p>
${said.map((each) => `<p>${moment(each.at)}<br>${escapeHtml(each.text).replaceAll(/\r?\n/gu, "<br>")}</p>`).join("\n")}</article>`
}

export interface PageParts {
  readonly body: PublicPageBody
  readonly hasDetails: boolean
  readonly hasFeed: boolean
}

/** A page as HTML. Its links are relative to `/status/`, whatever stands before that. */
export const publicPageHtml = (page: BuiltPage, { body, hasDetails, hasFeed }: PageParts): string => {
  const { isOutdated, name } = page
  const texts = pageTexts(page)
  const words = texts.words.page
  const { announcements, groups, state, title } = body
  const articles = (of: ShownAnnouncement["state"]) =>
    announcements
      .filter((each) => each.state === of)
      .map((each) => announcementHtml(each, page, texts))
      .join("\n")
  const section = (heading: string, shown: string) =>
    shown === "" ? "" : `<section><h2>${heading}</h2>\n${shown}</section>`
  const incidents = page.body.announcements.filter(
    (each) => each.kind === "incident" && each.state === "open",
  )
  const open =
    incidents.length === 0 ? "" : `<p class="i">${texts.counted(words.open_incidents, incidents.length)}</p>`
  const outdated = isOutdated ? ` ${words.outdated}` : ""
  const links = {
    json: `<a href="${name}.json">JSON</a>`,
    feed: `<a href="${name}.atom">${words.feed}</a>`,
  }
  return `<!doctype html>
<html lang="${texts.locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="60">
<title>${escapeHtml(title)}: ${words.states[state]}</title>
<link rel="icon" href="${iconOf(state)}">
${hasFeed ? `<link rel="alternate" type="application/atom+xml" title="${words.announcements}" href="${name}.atom">\n` : ""}<style>${STYLE}</style>
</head>
<body>
<header><h1>${escapeHtml(title)}</h1></header>
<main>
<div class="state ${classOf(state)}">${words.headlines[state]}${open}<p>${fill(words.as_of, { time: AS_OF })}${outdated}</p></div>
${articles("open")}
${section(words.planned, articles("scheduled"))}
${groups.map((group) => `<section><h2>${escapeHtml(group.title)}</h2>\n<ul>${group.lines.map((line) => lineHtml(line, hasDetails, texts)).join("\n")}</ul></section>`).join("\n")}
${section(words.past, articles("ended"))}
</main>
<footer>${fill(hasFeed ? words.renews_feed : words.renews, links)}</footer>
</body>
</html>
`
}

/** The time of a page in its zone. */
export const asOfHtml = (page: BuiltPage): string => timeHtml(pageTexts(page))(page.body.as_of)

export const missingPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>There is no such page</title><style>${STYLE}</style></head>
<body><main><h1>There is no such page</h1>
<p>The address may have a mistake, or its page has been removed. Check the address, or ask the people who gave it to you.</p></main></body></html>
`

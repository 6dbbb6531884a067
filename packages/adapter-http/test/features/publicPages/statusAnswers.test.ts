import { assert, describe, it } from "@effect/vitest"
import { Language, localeOf } from "@tocsin/contract/languages/Language"
import { loadWords } from "@tocsin/contract/languages/Languages"
import type { BuiltPage } from "@tocsin/core/features/publicPages/PublicPages"
import { forAll } from "@tocsin/testing/forAll"
import { parseAtomFeed } from "feedsmith"
import { Effect } from "effect"
import * as fc from "fast-check"
import { statusAnswer } from "../../../src/features/publicPages/statusAnswers.ts"

await loadWords(Language.literals)

const AT = "2026-12-07T10:00:00.000Z"

const ODD = [
  ..."<>&\"'`\\/$",
  "</p><script>alert(1)</script>",
  "]]>",
  "<![CDATA[",
  "-->",
  "&lt;",
  "&#0;",
  "$&",
  "$1",
  "as of",
  String.raw`\u0001as of\u0001`,
  "\u202e",
  "\u0085",
  "\ufffe",
  "\u{1f600}",
  "=cmd",
]
const hostile = fc.string({ unit: fc.constantFrom("a", " ", ...ODD), minLength: 1, maxLength: 12 })

interface Texts {
  readonly title: string
  readonly line: string
  readonly subject: string
  readonly text: string
  readonly update: string
}

const pageOf = ({ line, subject, text, title, update }: Texts): BuiltPage => {
  const announcement = {
    id: "019ae4a1-6c3c-7e4b-9c1d-2f3a4b5c6d7f",
    kind: "incident",
    title: subject,
    text,
    state: "open",
    lines: ["shop", "gone"],
    starts_at: AT,
    ends_at: null,
    updates: [{ at: AT, text: update }],
  } as const
  const shown = { name: line, id: "shop", state: "down", availability: 99.9, days: [] } as const
  return {
    name: "example",
    tz: "Europe/Berlin",
    isOutdated: false,
    lang: "en",
    body: {
      title,
      state: "down",
      as_of: AT,
      groups: [{ title: line, lines: [shown] }],
      announcements: [announcement],
    },
    feed: [{ ...announcement, published: AT, updated: AT }],
  }
}

const FILES = ["", ".json", ".atom", "/badge.svg", "/shop.svg"]

const textsOf = (page: BuiltPage) =>
  Effect.forEach(FILES, (file) =>
    Effect.promise(async () => {
      const answer = await statusAnswer(page, file, "https://status.example/a&b")
      return answer?.plain.toString("utf8") ?? assert.fail(`${file} is missing`)
    }),
  )

/** How often a document has each character that begins or ends a tag or an attribute, but for breaks of lines. */
const marksOf = (text: string) =>
  ["<", ">", '"'].map((mark) => text.replaceAll("<br>", "").split(mark).length)

/** A page in order, whose line has had data for two of its three days. */
const orderly = (): BuiltPage => {
  const page = pageOf({
    title: "Example",
    line: "Shop",
    subject: "It is slow",
    text: "We look.",
    update: "Found.",
  })
  const [incident] = page.feed
  if (incident === undefined) return assert.fail("there is none")
  const work = {
    ...incident,
    published: "2026-11-27T09:00:00.000Z",
    updates: [],
    kind: "maintenance",
  } as const
  const planned = {
    ...work,
    id: "2",
    title: "Planned work",
    state: "scheduled",
    starts_at: "2026-12-28T15:00:00.000Z",
    ends_at: "2026-12-28T16:00:00.000Z",
  } as const
  const calledOff = {
    ...work,
    id: "3",
    title: "Other work",
    state: "ended",
    lines: [],
    starts_at: "2026-11-29T15:00:00.000Z",
    ends_at: "2026-11-27T17:50:00.000Z",
  } as const
  const states = ["no_data", "operational", "operational"] as const
  const days = states.map((state, n) => ({ date: `2026-12-0${n + 5}`, state, minutes: 5 }))
  const shown = { name: "Shop", id: "shop", state: "operational", availability: 99.989, days } as const
  const feed = [incident, planned, calledOff]
  const groups = [{ title: "Example", lines: [shown] }]
  return { ...page, feed, body: { ...page.body, state: "operational", groups, announcements: feed } }
}

/** A page whose only line is in this state. */
const withLine = (line: Partial<BuiltPage["body"]["groups"][number]["lines"][number]>): BuiltPage => {
  const page = orderly()
  const groups = page.body.groups.map((group) => ({
    ...group,
    lines: group.lines.map((each) => ({ ...each, ...line })),
  }))
  return { ...page, body: { ...page.body, groups } }
}

const fileOf = async (page: BuiltPage, file: string): Promise<string> =>
  String((await statusAnswer(page, file, "https://status.example"))?.plain)

/** Texts of people, and those that no language translates. */
const PEOPLES = /^(Example|Shop|It is slow|Planned work|Other work|We look\.|Found\.|JSON|\.|· Shop)$/

/** Words that a language has in common with English. */
const SHARED: Readonly<Partial<Record<Language, ReadonlyArray<string>>>> = {
  fr: ["Incident", "Maintenance"],
  it: ["feed"],
  nl: ["feed"],
  pt: ["feed"],
}

const textsOfPage = (html: string) =>
  html
    .replace(/<style>.*<\/style>/s, "")
    .split(/<[^>]+>/)
    .map((text) => text.trim())
    .filter((text) => text !== "" && !PEOPLES.test(text))

/** The words that a reader sees, each element apart. */
const seen = (html: string) =>
  html
    .replace(/<style>.*<\/style>/s, "")
    .replaceAll(/<[^>]+>/g, "|")
    .replaceAll(/[|\s]*[|][|\s]*/g, "|")

describe("a page", () => {
  it("says in words what is open, planned and called off, with the zone of every time", async () => {
    const text = seen(await fileOf(orderly(), ""))
    assert.include(text, "All services are operational|1 open incident|As of|7 Dec 2026, 11:00 CET|.")
    assert.include(
      text,
      "|Incident|It is slow|Since|7 Dec 2026, 11:00 CET|· Shop|7 Dec 2026, 11:00 CET|Found.|7 Dec 2026, 11:00 CET|We look.|",
    )
    assert.include(
      text,
      "|Planned|Maintenance|Planned work|Begins|28 Dec 2026, 16:00 CET|· Ends|28 Dec 2026, 17:00 CET|· Shop|27 Nov 2026, 10:00 CET|We look.|",
    )
    assert.include(
      text,
      "|Past announcements|Maintenance|Other work|Called off|27 Nov 2026, 18:50 CET|· Planned for|29 Nov 2026, 16:00 CET|",
    )
  })

  it("says since when it has data, and finds no fault only where there is data and none now", async () => {
    const since = await fileOf(orderly(), "")
    assert.include(seen(since), "|3 days ago|99.98 % available since 2026-12-06|today|")
    assert.include(since, 'aria-label="Last 3 days; no fault since 2026-12-06"')
    assert.include(await fileOf(withLine({ state: "down" }), ""), 'aria-label="Last 3 days; down now"')
    const days = [{ date: "2026-12-07", state: "no_data", minutes: 0 }] as const
    const empty = await fileOf(withLine({ state: "no_data", availability: null, days }), "")
    assert.include(empty, 'aria-label="Last 1 day; no data"')
  })
})

describe("a page in a language", () => {
  it("says everything in it, dates, numbers and plurals too, and names it", async () => {
    const german = { ...orderly(), lang: "de" } as const
    const text = seen(await fileOf(german, ""))
    assert.include(text, "Alle Dienste sind in Betrieb|1 offene Störung|Stand:|7. Dez. 2026, 11:00 MEZ|.")
    assert.include(text, "|Wartung|Other work|Abgesagt:|27. Nov. 2026, 18:50 MEZ|· Geplant war:|")
    assert.include(text, "|vor 3 Tagen|99,98\u00a0% verfügbar seit 06.12.2026|heute|")
    assert.include(await fileOf(german, ""), '<html lang="de">')
    assert.include(await fileOf(german, ""), "<title>Example: in Betrieb</title>")
    const atom = await fileOf(german, ".atom")
    assert.include(atom, 'xml:lang="de"')
    assert.include(atom, "<title>Störung: It is slow (Aktualisierung)</title>")
    assert.include(atom, '<category term="incident"/>')
    assert.include(await fileOf({ ...german, lang: "ja" }, "/shop.svg"), "<title>Shop: 正常</title>")
    assert.strictEqual(await fileOf(german, ".json"), await fileOf(orderly(), ".json"))

    const days = [1, 2, 5, 90].map(
      (minutes, n) => ({ date: `2026-12-0${n + 1}`, state: "down", minutes }) as const,
    )
    const polish = await fileOf({ ...withLine({ state: "down", days }), lang: "pl" }, "")
    for (const said of [
      "awaria, 1 minuta",
      "awaria, 2 minuty",
      "awaria, 5 minut",
      "awaria, 1 godzina i 30 minut",
    ])
      assert.include(polish, said)
    assert.include(polish, "Ostatnie 4 dni; 4 gru 2026: awaria")
  })

  it.each(Language.literals)("has no word of English besides its own, in %s", async (lang) => {
    const english = new Set(textsOfPage(await fileOf(orderly(), "")))
    const same = textsOfPage(await fileOf({ ...orderly(), lang }, "")).filter((text) => english.has(text))
    if (lang !== "en")
      assert.deepStrictEqual(
        same,
        same.filter((text) => SHARED[lang]?.includes(text)),
      )
    assert.include(await fileOf({ ...orderly(), lang }, ""), `<html lang="${localeOf(lang)}">`)
  })
})

describe("an announcement on a page", () => {
  it("has its lines apart also in a browser without styles, such as lynx 2.9", async () => {
    const given = { title: "a", line: "b", subject: "c", text: "one\r\ntwo\n\nthree", update: "d" }
    assert.include(await fileOf(pageOf(given), ""), "</time><br>one<br>two<br><br>three</p>")
  })
})

describe("a feed", () => {
  it("has an entry for each announcement, with when and where, for each update and for each end; empty, it stays", async () => {
    const atom = await fileOf(orderly(), ".atom")
    const entries = parseAtomFeed(atom).entries ?? []
    assert.deepStrictEqual(
      entries.map(({ content, title }) => [title?.value, content?.value?.split("\n")[0]]),
      [
        ["Incident: It is slow", "Since 7 Dec 2026, 11:00 CET · Shop"],
        ["Incident: It is slow (update)", "Found."],
        ["Maintenance: Planned work", "Begins 28 Dec 2026, 16:00 CET · Ends 28 Dec 2026, 17:00 CET · Shop"],
        ["Maintenance: Other work", "Begins 29 Nov 2026, 16:00 CET"],
        [
          "Maintenance: Other work (called off)",
          "Called off 27 Nov 2026, 18:50 CET · Planned for 29 Nov 2026, 16:00 CET",
        ],
      ],
    )
    assert.lengthOf(new Set(entries.map(({ id }) => id)), entries.length)
    const empty = await fileOf({ ...orderly(), feed: [] }, ".atom")
    assert.strictEqual(parseAtomFeed(empty).updated, "1970-01-01T00:00:00.000Z")
  })
})

describe("the files of a page", () => {
  it("have badges that leave the width of letters to the font, and have room for wide ones", async () => {
    const widthOf = async (title: string) => {
      const svg = await fileOf(
        pageOf({ title, line: "a", subject: "a", text: "a", update: "a" }),
        "/badge.svg",
      )
      assert.notInclude(svg, "textLength")
      return Number(/width="(\d+)"/.exec(svg)?.[1])
    }
    assert.isAbove((await widthOf("WWWW")) - (await widthOf("llll")), 10)
  })

  it("leave out announcements of more text than they could have, before they make any", async () => {
    const page = pageOf({ title: "a", line: "a", subject: "a", text: "a".repeat(40_000), update: "a" })
    const [announcement] = page.body.announcements
    const [entry] = page.feed
    if (announcement === undefined || entry === undefined) return assert.fail("there is none")
    const announcements = Array.from({ length: 100 }, () => announcement)
    const feed = Array.from({ length: 200 }, () => entry)
    const many = { ...page, body: { ...page.body, announcements }, feed }
    const answer = await statusAnswer(many, ".json", undefined)
    const shown = JSON.parse(String(answer?.plain)) as typeof page.body
    assert.lengthOf(shown.announcements, 6)
    const atom = await statusAnswer(many, ".atom", "https://status.example")
    assert.lengthOf(parseAtomFeed(String(atom?.plain)).entries ?? [], 2 * 6)
  })

  it.effect("show any text as that text: no title, line or announcement makes a tag or an attribute", () =>
    Effect.gen(function* () {
      const plain = { title: "a", line: "a", subject: "a", text: "a", update: "a" }
      const [html = "", , ...xml] = yield* textsOf(pageOf(plain))
      const texts = fc.record({
        title: hostile,
        line: hostile,
        subject: hostile,
        text: hostile.map((text) => `${text}\n${text}`),
        update: hostile,
      })
      yield* forAll(texts, { runs: 60 }, (given) =>
        Effect.gen(function* () {
          const page = pageOf(given)
          const [shown = "", json = "", ...documents] = yield* textsOf(page)
          assert.deepStrictEqual(marksOf(shown), marksOf(html))
          assert.deepStrictEqual(documents.map(marksOf), xml.map(marksOf))
          assert.deepStrictEqual(JSON.parse(json), page.body)
          // XML lacks these characters.
          for (const document of documents)
            assert.notMatch(document, /[^\t\n\r -\ufffd\u{10000}-\u{10ffff}]/u)
          assert.lengthOf(parseAtomFeed(documents[0] ?? "").entries ?? [], 2)
        }),
      )
    }),
  )
})

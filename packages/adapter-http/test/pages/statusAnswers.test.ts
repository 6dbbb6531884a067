import { assert, describe, it } from "@effect/vitest"
import type { BuiltPage } from "@tocsin/core/usecases/PublicPages"
import { forAll } from "@tocsin/testing/forAll"
import { parseAtomFeed } from "feedsmith"
import { Effect } from "effect"
import * as fc from "fast-check"
import { statusAnswer } from "../../src/pages/statusAnswers.ts"

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

/** How often a document has each character that begins or ends a tag or an attribute. */
const marksOf = (text: string) => ["<", ">", '"'].map((mark) => text.split(mark).length)

describe("the files of a page", () => {
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
    assert.lengthOf(parseAtomFeed(String(atom?.plain)).entries ?? [], 6)
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
          // XML has no such characters.
          for (const document of documents)
            assert.notMatch(document, /[^\t\n\r -\ufffd\u{10000}-\u{10ffff}]/u)
          assert.lengthOf(parseAtomFeed(documents[0] ?? "").entries ?? [], 1)
        }),
      )
    }),
  )
})

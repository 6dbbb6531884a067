import { assert, it, layer } from "@effect/vitest"
import { Language } from "@tocsin/contract/languages/Language"
import { loadWords } from "@tocsin/contract/languages/Languages"
import { statusAnswer } from "@tocsin/adapter-http/features/publicPages/statusAnswers"
import { LINE_STATES, type LineState, type PublicPageBody } from "@tocsin/contract/publicPages/PublicPages"
import type { BuiltPage } from "@tocsin/core/features/publicPages/PublicPages"
import { Effect } from "effect"
import { AT_LENGTH } from "../properties/atLength.ts"
import { Browser, chromium, flawsOf, openNewContext, skipped } from "./Console.ts"
import { serve } from "./serve.ts"

const dateOf = (n: number) => new Date(Date.UTC(2026, 7, 30) + n * 86_400_000).toISOString().slice(0, 10)

/** A line whose days are in these states, 90 days in all, operational unless given. */
const line = (name: string, state: LineState, faults: Readonly<Record<number, LineState>> = {}) => ({
  name,
  id: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
  state,
  availability: state === "no_data" ? null : 99.982,
  days: Array.from({ length: 90 }, (_, n) => {
    const shown = faults[n] ?? (state === "no_data" ? "no_data" : "operational")
    return { date: dateOf(n), state: shown, minutes: shown === "operational" ? 1_440 : 7 + n }
  }),
})

const at = "2026-11-27T16:20:00.000Z"
const body: PublicPageBody = {
  title: "Example Shop <status>",
  state: "down",
  as_of: at,
  groups: [
    {
      title: "Shop",
      lines: [
        line("Web shop", "operational", { 20: "degraded", 61: "down", 62: "degraded" }),
        line("Payment", "down", { 44: "maintenance", 89: "down" }),
        line("Search", "degraded", { 89: "degraded" }),
      ],
    },
    {
      title: "A group with a name that is long enough to be broken into lines on a telephone",
      lines: [
        line("Partner API", "maintenance", { 3: "maintenance", 89: "maintenance" }),
        line("Mail", "no_data"),
      ],
    },
  ],
  announcements: [
    {
      id: "1",
      kind: "incident",
      title: "Payments by card fail",
      text: "We see that payments by card fail.\nOthers work.",
      state: "open",
      lines: ["payment"],
      starts_at: "2026-11-27T15:02:00.000Z",
      ends_at: null,
      updates: [{ at: "2026-11-27T15:40:00.000Z", text: "Our bank has found the cause." }],
    },
    {
      id: "2",
      kind: "maintenance",
      title: "New storage for the partner API",
      text: "The API answers slowly.",
      state: "scheduled",
      lines: ["partner-api"],
      starts_at: "2026-11-28T02:00:00.000Z",
      ends_at: "2026-11-28T04:00:00.000Z",
      updates: [],
    },
    {
      id: "3",
      kind: "notice",
      title: "Thank you for your patience",
      text: "All orders of Monday have arrived.",
      state: "ended",
      lines: [],
      starts_at: "2026-11-20T08:00:00.000Z",
      ends_at: "2026-11-21T08:00:00.000Z",
      updates: [],
    },
  ],
}
const page: BuiltPage = {
  name: "example",
  body,
  feed: [],
  tz: "Europe/Berlin",
  isOutdated: false,
  lang: "en",
}

/** The parts of the open page that a reader would not see: wider than the screen, or words that are cut off. */
const OVERFLOW = `(() => {
  const faults = document.documentElement.scrollWidth > innerWidth ? ["wider than the screen"] : []
  for (const part of document.body.querySelectorAll("*:not(path, title)")) {
    const { left, right } = part.getBoundingClientRect()
    if (left < 0 || right > innerWidth + 0.5 || part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0)
      faults.push(part.outerHTML.slice(0, 60) + part.textContent.slice(0, 30))
  }
  return faults
})()`

/** Texts whose colour is that of what is behind them, and bars without one. */
const UNSEEN = `(() => {
  const ground = getComputedStyle(document.body).backgroundColor
  const texts = Array.from(document.body.querySelectorAll("*")).filter((part) =>
    Array.from(part.childNodes).some(({ nodeType, data }) => nodeType === 3 && data.trim() !== ""))
  return [
    ...texts.filter((part) => part.tagName !== "title" && getComputedStyle(part).color === ground),
    ...Array.from(document.querySelectorAll("path")).filter((path) => getComputedStyle(path).stroke === ground),
  ].map((part) => part.outerHTML.slice(0, 120))
})()`

/** Serves the files of a page as they are served, at an address of this machine. */
const servedPage = (built: BuiltPage) =>
  Effect.map(
    serve((request, response) => {
      const file = (request.url ?? "").slice("/status/example".length)
      void statusAnswer(built, file, "https://status.example")?.then(({ fields, plain }) =>
        response.writeHead(200, fields).end(plain),
      )
    }),
    (origin) => `${origin}/status/example`,
  )

layer(Browser.layer, { excludeTestServices: true })(`a public page in a browser${skipped}`, (inBrowser) => {
  const tested = chromium === undefined ? inBrowser.effect.skip : inBrowser.effect
  tested("is legible on every screen, in the dark and printed, without a script or a foreign resource", () =>
    Effect.gen(function* () {
      const address = yield* servedPage(page)
      const context = yield* openNewContext
      const faults = yield* Effect.promise(async () => {
        const opened = await context.newPage()
        const found: Array<string> = []
        opened.on("console", (message) => void found.push(message.text()))
        opened.on("request", (request) => {
          if (!request.url().startsWith(address) && !request.url().startsWith("data:"))
            found.push(request.url())
        })
        await opened.goto(address)
        const flaws = await flawsOf(opened)
        assert.match(await opened.title(), /: down$/)
        assert.strictEqual(await opened.getByRole("img").count(), 5)
        await opened.emulateMedia({ media: "print" })
        assert.isFalse(await opened.getByRole("link", { name: "JSON" }).isVisible())
        return [...found, ...flaws.filter((flaw) => !flaw.startsWith("meta-refresh"))]
      })
      assert.deepStrictEqual(faults, [])
    }),
  )

  tested(
    "has room on a telephone in each language, at twice the size and in the reader's own colours too",
    () =>
      Effect.gen(function* () {
        yield* Effect.promise(() => loadWords(Language.literals))
        const context = yield* openNewContext
        const found: Array<string> = []
        for (const lang of Language.literals.filter((_, place) => AT_LENGTH || place % 3 === 0)) {
          const html = (yield* Effect.promise(async () =>
            statusAnswer({ ...page, lang }, "", "https://a.example"),
          ))?.plain.toString()
          yield* Effect.promise(async () => {
            const opened = await context.newPage()
            await opened.emulateMedia({ reducedMotion: "reduce" })
            await opened.setViewportSize({ width: 390, height: 844 })
            await opened.setContent(html ?? assert.fail("there is no page"))
            const look = async (how: string, faults: string) => {
              for (const fault of await opened.evaluate<ReadonlyArray<string>>(faults))
                found.push(`${lang} ${how}: ${fault}`)
            }
            await look("at 390 px", OVERFLOW)
            await opened.evaluate('document.documentElement.style.fontSize = "200%"')
            await look("at twice the size", OVERFLOW)
            await opened.emulateMedia({ forcedColors: "active" })
            await look("in forced colours", UNSEEN)
            assert.strictEqual(await opened.evaluate("document.getAnimations().length"), 0)
            await opened.close()
          })
        }
        assert.deepStrictEqual(found, [])
      }),
  )
})

it.effect(
  "texts of a page do not run into each other where no style is read, as in lynx 2.9 and w3m 0.5",
  () =>
    Effect.promise(async () => {
      const shown = (await statusAnswer(page, "", undefined))?.plain.toString() ?? ""
      const text = shown.replaceAll(/<style>[^]*?<\/style>|<[^>]+>/g, "")
      assert.include(text, "down, 1 hour 8 minutes")
      assert.notMatch(text, /minutes?\d|hours?\d|shopOperational|PaymentDown|ago9|\dtoday/)
    }),
)

it.effect("a page has at most 60 KiB, compressed, whatever it shows", () =>
  Effect.promise(async () => {
    const [announcement] = body.announcements
    assert.isDefined(announcement)
    const announcements = Array.from({ length: 60 }, (_, n) => ({
      ...announcement,
      title: `Number ${n}.`,
      text: Array.from({ length: 600 }, (__, m) => String((n * 7_919 + m * 104_729) % 99_991)).join(" "),
    }))
    const talkative = await statusAnswer({ ...page, body: { ...body, announcements } }, "", undefined)
    const shown = talkative?.plain.toString() ?? ""
    assert.include(shown, "Number 0.")
    assert.notInclude(shown, "Number 59.")
    const random = (n: number) => LINE_STATES[(n * 2_654_435_761) % 5] ?? "down"
    const lines = Array.from({ length: 200 }, (_, l) => {
      const faults = Array.from({ length: 90 }, (__, n) => [n, random(l * 97 + n * 31 + ((l * n) % 7))])
      return line(`Line ${l} ${"x".repeat(40)}`, "down", Object.fromEntries(faults))
    })
    const faulty = await statusAnswer(
      { ...page, body: { ...body, groups: [{ title: "a", lines }] } },
      "",
      undefined,
    )
    for (const answer of [talkative, faulty]) {
      assert.isAtMost(answer?.gzip.length ?? Infinity, 60 * 1_024)
      assert.isAtLeast(answer?.gzip.length ?? 0, 10_000)
    }
  }),
)

import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { Browser, chromium, isWide, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { type DemoClient, fillDemo } from "./demo.ts"
import { startService } from "./Site.ts"

const POLICY = `receivers:
  anna-of-the-platform-team-by-mail-and-chat: { kind: debug }
  bob: { kind: debug }
rotas:
  platform-primary-of-the-weekdays: { tz: Europe/Berlin, order: [anna-of-the-platform-team-by-mail-and-chat, bob], every: 7d, from: "2026-11-02T09:00" }
routes:
  - { match: [ "label:team = data" ], after: 10m, to: [bob] }
  - steps: [{ to: [platform-primary-of-the-weekdays] }, { after: 15m, to: [bob] }]
windows:
  - { name: weekly-backup-of-the-databases, cron: "0 2 * * 0", tz: Europe/Berlin, for: 4h, match: [ "check_id glob nightly*" ] }
pages:
  shop: { title: The shop and all that belongs to it, groups: [{ title: Services, lines: [{ name: Checkout with cards and vouchers, match: [ "check_id = http" ] }] }] }
`

/** As long as people write them: they fit at 1,440 px, and on a telephone in two lines. */
const TITLES = {
  "db-1/disk": "Disk of the customer database in Frankfurt",
  "db-1/replication": "Replication of the customer database to Dublin",
  "backup-1/nightly": "Nightly backup of the customer database",
  "mail-1/queue": "Queue of outgoing mail to customers",
} as const

const fill = async (demo: DemoClient): Promise<void> => {
  await fetch(`${demo.baseUrl}/ops/v1/policy?confirm=true`, {
    method: "PUT",
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/yaml" },
    body: POLICY,
  })
  await fillDemo(demo)
  for (const [check, title] of Object.entries(TITLES))
    await demo.call("PATCH", `ops/v1/checks/${check}`, { title })
  await demo.call("PATCH", "ops/v1/agents/db-1", { title: "Database of the customers in Frankfurt" })
  await demo.call("POST", "ops/v1/watches", {
    title: "Front page of the shop as customers see it",
    every: "1h",
    http: { url: "https://192.0.2.1/shop/index.html" },
  })
  await demo.call("POST", "ops/v1/integrations", {
    title: "Export of invoices to the accountants",
    kind: "ping",
  })
}

const ADDRESSES = [
  "overview",
  "incidents",
  "incidents?state=resolved",
  "agents",
  "agents/db-1",
  "admission",
  "checks",
  "checks?state=late",
  "checks?view=grid",
  "checks/db-1/disk",
  "on-call",
  "silences",
  "policy",
  "receivers",
  "pages",
  "watches",
  "outbox",
  "audit",
  "integrations",
  "operators",
  "system",
  "report",
  "start",
  "wall",
]

/** Names that are not shown as a whole, on walls and in boxes too. */
const cut = (names: string) => `Array.from(document.querySelectorAll(".wall .main, main :is(${names})"))
  .filter((part) => part.checkVisibility() && part.closest("[hidden], .unseen") === null)
  .filter((part) => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1)
  .filter((part) => getComputedStyle(part).overflowX !== "visible")`
const NAMES = "h1, h2, h3, .row a.main, .row > b"
const CUT = `${cut(NAMES)}.map((part) => part.textContent)`

/** Names of boxes that the pointer does not show as a whole either. */
const BOXED = `${cut(".cell span")}
  .filter((part) => !part.closest("a").title.includes(part.textContent)).map((part) => part.textContent)`

/** Names on a telephone that do not lead to a page, which has them as a whole. */
const LOST = `${cut(`${NAMES}, .cell span`)}
  .filter((part) => part.closest("a") === null).map((part) => part.textContent)`

/** Texts that lie upon each other. */
const OVERLAPPING = `(() => {
  const texts = Array.from(document.querySelectorAll("main *, header *"))
    .filter((part) => part.checkVisibility({ opacityProperty: true }) && part.closest(".unseen, svg, select, dialog, [popover]") === null)
    .flatMap((part) => Array.from(part.childNodes).filter((node) => node.nodeType === 3 && node.data.trim() !== "").flatMap((node) => {
      const range = document.createRange()
      range.selectNodeContents(node)
      let clip = { left: 0, top: -Infinity, right: Infinity, bottom: Infinity }
      for (let place = part; place !== null; place = place.parentElement)
        if (getComputedStyle(place).overflowX !== "visible") {
          const box = place.getBoundingClientRect()
          clip = { left: Math.max(clip.left, box.left), top: Math.max(clip.top, box.top), right: Math.min(clip.right, box.right), bottom: Math.min(clip.bottom, box.bottom) }
        }
      return Array.from(range.getClientRects()).map((box) => ({
        text: node.data.trim(), part,
        left: Math.max(box.left, clip.left), right: Math.min(box.right, clip.right),
        top: Math.max(box.top, clip.top), bottom: Math.min(box.bottom, clip.bottom),
      }))
    }))
    .filter(({ left, right, top, bottom }) => right - left > 1 && bottom - top > 1)
    .filter(({ part }) => !["sticky", "fixed"].includes(getComputedStyle(part.closest("header, nav, .heads, .selected") ?? part).position))
  const found = []
  for (const [place, a] of texts.entries())
    for (const b of texts.slice(place + 1)) {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left)
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
      if (a.part !== b.part && wide > 2 && high > 4) found.push(a.text + " / " + b.text)
    }
  return found.slice(0, 10)
})()`

/** Labels that end in what separates two of them. */
const SEPARATED = `Array.from(document.querySelectorAll("main :is(.subject, .notes, .what, .lead, em, h1, h2, h3, label)"))
  .filter((part) => part.checkVisibility() && /[\\u00B7|]\\s*$/.test(part.innerText))
  .map(({ innerText }) => innerText)`

const DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"

/** The rules of every page, with what contradicts each, and at which widths. */
const LOOKS = [
  { sentence: "no name is cut", measure: CUT, widths: [1440] },
  { sentence: "a box has its whole name under the pointer", measure: BOXED, widths: [1440, 1024] },
  { sentence: "a name that is cut leads to a page that has it whole", measure: LOST, widths: [390] },
  { sentence: "no text lies upon another", measure: OVERLAPPING, widths: [1440, 1024, 390] },
  { sentence: "no label ends with a separator", measure: SEPARATED, widths: [1440, 390] },
] as const

describe.skipIf(chromium === undefined)(`room for names in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect(
      "is taken before a name is cut, on every page and at every width",
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await fill(demo)
            const { page } = await openConsole(context, baseUrl)
            await signIn(page)
            const found: Array<string> = []
            for (const address of ADDRESSES) {
              await page.setViewportSize({ width: 1440, height: 900 })
              await page.goto(`${baseUrl}/#/${address}`)
              await page.locator(".loading").first().waitFor({ state: "detached" })
              await page.evaluate(DRAWN)
              for (const width of [1440, 1024, 390]) {
                await page.setViewportSize({ width, height: 900 })
                await page.evaluate(DRAWN)
                if (await isWide(page)) found.push(`${address} ${width} scrolls sideways`)
                for (const { measure, sentence, widths } of LOOKS)
                  if (widths.some((each) => each === width))
                    for (const text of await page.evaluate<ReadonlyArray<string>>(measure))
                      found.push(`${address} ${width}: ${sentence}, but ${text}`)
              }
            }
            assert.deepStrictEqual(found, [])
          })
        }),
      600_000,
    )
  })
})

import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
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
  await demo.addOperator("kim-of-the-platform-team", "respond")
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

/** Fields beside each other of which one is higher. Those below each other share no line. */
const UNLEVEL = `Array.from(document.querySelectorAll(".form-row")).flatMap((row) => {
  const fields = Array.from(row.querySelectorAll("input:not([type=checkbox]), select, textarea, button, :scope > .filters"))
    .filter((field) => field.checkVisibility())
    .map((field) => ({ box: field.getBoundingClientRect(), name: (field.closest("label") ?? field).innerText.split("\\n")[0] }))
  return fields.slice(1).flatMap(({ box, name }, place) => {
    const before = fields[place].box
    const isBeside = box.left >= before.right && box.top < before.bottom && before.top < box.bottom
    return isBeside && Math.abs(box.top - before.top) > 1 ? [name] : []
  })
})`

/** Buttons that reach beyond their row. */
const BEYOND = `Array.from(document.querySelectorAll("main .row button"))
  .filter((button) => button.checkVisibility())
  .filter((button) => button.getBoundingClientRect().right > button.closest(".row").getBoundingClientRect().right + 1)
  .map(({ innerText }) => innerText)`

/** Values that stand in another line than their units. */
const PARTED = `(() => {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT)
  const found = []
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    for (const { 0: text, index } of node.data.matchAll(/\\d[\\d.,]*\\s(?:%|[kMGT]?B|ms|s|min|h|d)(?!\\w)/g)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + text.length)
      const tops = Array.from(range.getClientRects()).map(({ top }) => top)
      if (Math.max(...tops) - Math.min(...tops) > 4) found.push(text)
    }
  return found
})()`

/** Lines of the policy whose number stands elsewhere. */
const MISNUMBERED = `Array.from(document.querySelectorAll(".editor")).flatMap((editor) => {
  const [numbers, lines] = ["pre", "textarea"].map((part) => editor.querySelector(":scope > " + part))
  const count = lines.value.split("\\n").length
  const high = parseFloat(getComputedStyle(lines).lineHeight)
  const range = document.createRange()
  range.selectNodeContents(numbers)
  const box = range.getBoundingClientRect()
  const first = lines.getBoundingClientRect().top + parseFloat(getComputedStyle(lines).paddingTop)
  const isBeside = Math.abs(box.top - first) < high / 2 && Math.abs(box.height - count * high) < high / 2
  return isBeside ? [] : [count + " lines of " + high + " px from " + first + ", their numbers " + box.height + " px from " + box.top]
})`

const DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"

/** The rules of every page, with what contradicts each, and at which widths. */
const LOOKS = [
  { sentence: "no name is cut", measure: CUT, widths: [1440] },
  { sentence: "a box has its whole name under the pointer", measure: BOXED, widths: [1440, 1024] },
  { sentence: "a name that is cut leads to a page that has it whole", measure: LOST, widths: [390] },
  { sentence: "no text lies upon another", measure: OVERLAPPING, widths: [1440, 1024, 390] },
  { sentence: "no label ends with a separator", measure: SEPARATED, widths: [1440, 390] },
  { sentence: "the fields of a row are level", measure: UNLEVEL, widths: [1440, 1024, 390] },
  { sentence: "buttons stand in their row", measure: BEYOND, widths: [1440, 1024, 390] },
  { sentence: "a value stands beside its unit", measure: PARTED, widths: [1440] },
  { sentence: "numbers of lines stand beside them", measure: MISNUMBERED, widths: [1440, 390] },
] as const

/** Where the links of the navigation stand. */
const LINKS = `Array.from(document.querySelectorAll("nav a")).map((link) => {
  const { left, top, height } = link.getBoundingClientRect()
  return [link.getAttribute("href"), left, top, height].join(" ")
})`

/** Everything that contradicts the rules on all pages, at every width. */
const contradictions = async (page: Page, baseUrl: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const address of ADDRESSES) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`${baseUrl}/#/${address}`)
    await page.locator(".loading").first().waitFor({ state: "detached" })
    // The steps of Start are open one at a time.
    await page.evaluate(
      'document.querySelectorAll("main details:not([name])").forEach((part) => (part.open = true))',
    )
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
  return found
}

describe.skipIf(chromium === undefined)(`room for names in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect(
      "is taken before a name is cut, on every page and at every width, and no update moves the navigation",
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            const { page } = await openConsole(context, baseUrl)
            await signIn(page)
            assert.deepStrictEqual(await contradictions(page, baseUrl), [], "without rows")
            await page.setViewportSize({ width: 1440, height: 900 })
            await page.goto(`${baseUrl}/#/overview`)
            await page.evaluate(DRAWN)
            const links = await page.evaluate<ReadonlyArray<string>>(LINKS)
            await fill(demo)
            await page.locator("nav .count").first().waitFor()
            assert.deepStrictEqual(await page.evaluate(LINKS), links)
            assert.deepStrictEqual(await contradictions(page, baseUrl), [])
            await page.setViewportSize({ width: 1440, height: 900 })
            await page.goto(`${baseUrl}/#/policy`)
            await page.getByRole("button", { name: "Add a route" }).click()
            await page.getByRole("button", { name: "Add a step" }).click()
            assert.deepStrictEqual(await page.evaluate(UNLEVEL), [], "in a dialog")
          })
        }),
      900_000,
    )
  })
})

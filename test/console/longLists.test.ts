import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startService } from "./Site.ts"

const COUNT = 10_000

/** Answers for the service with a long list of watches, of which one has another state each time. */
const answerLong = async (page: Page, changed: () => number): Promise<void> => {
  const watch = (place: number) => ({
    name: `shop-${place}`,
    title: null,
    every: "1m",
    tcp: { host: "shop.example", port: place },
    confirm: { good: 1, bad: 2 },
    status: "ok",
    last: { at: "2026-11-29T12:00:00Z", status: "ok", output: place === 3 ? `look ${changed()}` : "open" },
    unconfirmed: 0,
    from: ["here"],
    fails: "majority",
    places: [],
    labels: {},
    is_paused: false,
    is_of_policy: false,
  })
  await page.route(/\/ops\/v1\/watches\?/, (route) => {
    const asked = new URL(route.request().url()).searchParams
    const [from, limit] = [Number(asked.get("cursor") ?? 0), Number(asked.get("limit") ?? 100)]
    const to = Math.min(COUNT, from + limit)
    const items = Array.from({ length: to - from }, (_, place) => watch(from + place))
    return route.fulfill({ json: { items, next_cursor: to < COUNT ? `${to}` : null } })
  })
}

/** Counts the nodes below the rows that are drawn again. */
const COUNT_DRAWN = `{
  window.drawn = 0
  new MutationObserver((changes) => {
    window.drawn += changes.filter(({ target }) => target.parentElement?.closest("time, .when") === null).length
  }).observe(document.querySelector(".rows"), { subtree: true, childList: true, characterData: true })
}`

describe.skipIf(chromium === undefined)(`a list of 10,000 rows in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("has few elements, in any order, and an update draws the rows that it changes", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          let look = 1
          const { page, faults } = await openConsole(context, `${baseUrl}/#/incidents`)
          await signIn(page)
          await answerLong(page, () => look)
          await page.goto(`${baseUrl}/#/watches?sort=-name`)
          const row = (name: string) => page.locator(`[data-id="${name}"]`)
          await row("shop-9999").waitFor()
          await page.evaluate("scrollTo(0, document.body.scrollHeight)")
          await row("shop-0").waitFor()
          assert.isAtMost(await page.locator(".rows li").count(), 1_100)
          await page.getByRole("link", { name: "Name" }).click()
          await row("shop-0").waitFor()
          await row("shop-10").waitFor()
          await row("shop-3").getByText("look 1").waitFor()
          // All rows that are elements whether they are in sight or not.
          await row("shop-999").waitFor({ state: "attached" })
          await page.locator(".heads").getByRole("checkbox").click()
          await page.getByText("200 selected, the most").waitFor()
          assert.isTrue(await row("shop-199").getByRole("checkbox", { includeHidden: true }).isChecked())
          await page.getByRole("button", { name: "Clear" }).click()
          await page.evaluate(COUNT_DRAWN)
          look = 2
          await demo.call("POST", "ops/v1/watches", {
            name: "new",
            every: "1h",
            http: { url: "https://a.example/" },
          })
          await row("shop-3").getByText("look 2").waitFor()
          // Beside the row, times of those in sight may have moved on: far from a thousand rows.
          assert.isAtMost(await page.evaluate<number>("window.drawn"), 60)
          assert.deepStrictEqual(faults, [])
        })
      }),
    )
  })
})

import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { AT_LENGTH } from "../properties/atLength.ts"
import { Browser, chromium, openConsole, openContext, signIn, skippedAtLength } from "./Console.ts"
import { Site } from "./Site.ts"

const rowOf = (page: Page, row: number) => page.locator(`.rows li[aria-posinset="${row}"] a.main`)

/** Opens the list. The list of agents has a first row too, and stays until the page knows its new address. */
const openIncidents = async (page: Page): Promise<void> => {
  await page.getByRole("link", { name: "Incidents", exact: true }).click()
  await rowOf(page, 1).filter({ hasText: "is slow" }).waitFor()
}

const isAtTop = (page: Page): Promise<boolean> => page.evaluate("window.scrollY === 0")

/** Scrolls as people do: a page of the list is read once it comes into sight. */
const scrollToRow = async (page: Page, row: number): Promise<void> => {
  for (let shown = 50; shown <= row; shown += 50) {
    await page.evaluate(`{
      const height = document.querySelector(".rows li").getBoundingClientRect().height
      window.scrollBy(0, document.querySelector(".rows").getBoundingClientRect().top + ${shown} * height)
    }`)
    await rowOf(page, shown + 10).waitFor()
  }
}

/** Opens a row far down, goes back, and finds it where it was. */
const comesBack = async (page: Page, goBack: (title: string) => Promise<unknown>): Promise<void> => {
  await scrollToRow(page, 250)
  const title = (await rowOf(page, 255).textContent()) ?? ""
  const row = page.getByRole("list").getByRole("link", { name: title, exact: true })
  const place = await row.boundingBox()
  await row.click()
  await row.waitFor({ state: "detached" })
  await page.locator("main:focus").waitFor()
  await goBack(title)
  await row.and(page.locator(":focus")).waitFor()
  // A window scrolls by whole pixels.
  assert.closeTo((await row.boundingBox())?.y ?? 0, place?.y ?? Number.NaN, 1, title)
}

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined || !AT_LENGTH)(`a long list${skippedAtLength}`, () => {
  layer(shared, { excludeTestServices: true })((it) => {
    it.effect("stands where it was left for those who go back, and at its top for those who open it", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-place")
          await demo.report(
            "host-place",
            Array.from({ length: 350 }, (_, index) => ({
              check_id: `check-${index}`,
              status: "warning",
              output: `check-${index} is slow`,
            })),
          )
          const { page } = await openConsole(context, `${baseUrl}/#/incidents`)
          await signIn(page)
          await rowOf(page, 1).waitFor()
          const waysBack = {
            "the browser's": () => page.goBack(),
            Esc: () => page.keyboard.press("Escape"),
            "the link": () => page.getByRole("link", { name: "← Back" }).click(),
          }
          for (const [way, goBack] of Object.entries(waysBack)) {
            await page.getByRole("link", { name: "Agents", exact: true }).click()
            await page.getByRole("link", { name: "host-place" }).waitFor()
            await openIncidents(page)
            assert.isTrue(await isAtTop(page), way)
            await comesBack(page, async (title) => {
              await page.getByRole("heading", { name: title, exact: true }).waitFor()
              assert.isTrue(await isAtTop(page), way)
              await goBack()
            })
          }
          await page.getByRole("link", { name: "Agents", exact: true }).click()
          await openIncidents(page)
          await comesBack(page, async (title) => {
            await page.goBack()
            await page.getByRole("link", { name: title, exact: true }).waitFor()
            await page.reload()
            await page.getByRole("link", { name: title, exact: true }).focus()
          })
          await page.goto(`${baseUrl}/#/agents/host-place`)
          await rowOf(page, 1).waitFor()
          await comesBack(page, () => page.getByRole("link", { name: "← host-place" }).click())
        })
      }),
    )
  })
})

import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Browser, chromium, flawsOf, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startMonitor } from "./Site.ts"

const shop = {
  title: "The shop",
  announce: "respond",
  groups: [
    {
      title: "Services",
      lines: [
        { name: "Checkout", match: ["check_id = http"] },
        { name: "Search", match: ["check_id = search"] },
      ],
    },
  ],
} as const

describe.skipIf(chromium === undefined)(`public pages in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("an announcement is written beside its page, updated and ended, by who may", () =>
      Effect.gen(function* () {
        const { baseUrl, demo, monitor } = yield* startMonitor({ policy: { pages: { shop } } })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const operator = async (name: string, role: string) => {
            const made = await demo.call("POST", "ops/v1/operators", { name, role })
            // The answer of the API.
            return (made as { readonly token: string }).token
          }
          await demo.join("web-1")
          await demo.report("web-1", [{ check_id: "http", status: "critical", output: "no answer" }])
          const { page, faults } = await openConsole(context, baseUrl)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          await signIn(page, await operator("ann", "respond"))
          for (const key of ["g", "f"]) await page.keyboard.press(key)
          const shown = page.frameLocator("iframe")
          await shown.getByRole("heading", { name: "The shop" }).waitFor()
          await page.getByLabel("Kind").selectOption("maintenance")
          await page.getByLabel("Title").fill("A new checkout")
          await page.getByLabel("Text, for all").fill("We move it.\nOrders wait.")
          await page.getByRole("group", { name: "Lines" }).getByLabel("Checkout").check()
          const draft = shown.locator("article.draft")
          await draft.getByText(/^From now on · Checkout$/).waitFor()
          assert.deepStrictEqual(await flawsOf(page), [])
          await page.setViewportSize({ width: 1440, height: 900 })
          await click("Announce")
          await page.getByText("Announced A new checkout").waitFor()
          const row = page.getByRole("list", { name: "Announcements" }).getByRole("listitem")
          await row.getByText("open", { exact: true }).waitFor()
          await draft.waitFor({ state: "detached" })
          // A page is read every 15 s.
          await monitor.advance("20s")
          await shown.locator("article", { hasText: "Orders wait." }).waitFor()
          await shown.getByRole("listitem").getByText("Maintenance", { exact: true }).waitFor()

          await row.getByLabel("Update of").fill("Half of it is done.")
          await click("Update")
          await row.getByText("Half of it is done.").waitFor()
          await click("End")
          await click("End it")
          await row.getByText("ended", { exact: true }).waitFor()
          await page.goto(`${baseUrl}/#/audit`)
          const link = page.getByRole("link", { name: "an announcement" }).first()
          assert.strictEqual(await link.getAttribute("href"), "#/pages")
          await click("Sign out")
          await signIn(page, await operator("eve", "read"))
          await page.goto(`${baseUrl}/#/pages`)
          await page.getByText("Only administrators and responders announce").waitFor()
          assert.strictEqual(await row.getByRole("button").count(), 0)
          assert.deepStrictEqual(faults, [])
        })
      }),
    )
  })
})

import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Browser, chromium, flawsOf, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startMonitor } from "./Site.ts"

const shop = {
  title: "The shop",
  tz: "Asia/Tokyo",
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
          await demo.join("web-1")
          await demo.report("web-1", [{ check_id: "http", status: "critical", output: "no answer" }])
          const { page, faults } = await openConsole(context, baseUrl)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          await signIn(page, await demo.addOperator("ann", "respond"))
          for (const key of ["g", "f"]) await page.keyboard.press(key)
          const shown = page.frameLocator("iframe")
          await shown.getByRole("heading", { name: "The shop" }).waitFor()
          await page.getByLabel("Kind").selectOption("maintenance")
          await page.getByLabel("Title").fill("A new checkout")
          await page.getByLabel("Text, for all").fill("We move it.\nOrders wait.")
          await page.getByRole("group", { name: "Lines" }).getByLabel("Checkout").check()
          const draft = shown.locator("article.draft")
          await draft.getByText(/^Since .* · Checkout$/).waitFor()
          assert.deepStrictEqual(await flawsOf(page), [])
          await page.setViewportSize({ width: 1440, height: 900 })
          await click("Announce")
          await page.getByText("Announced A new checkout").waitFor()
          const rows = page.getByRole("list", { name: "Announcements" }).getByRole("listitem")
          const row = rows.filter({ hasText: "A new checkout" })
          await row.getByText("open", { exact: true }).waitFor()
          await draft.waitFor({ state: "detached" })
          const published = page.getByText("Published; the page shows it within 15 s")
          await published.waitFor()
          // A page is read every 15 s.
          await monitor.advance("20s")
          await shown.locator("article", { hasText: "Orders wait." }).waitFor()
          await shown.getByRole("listitem").getByText("Maintenance", { exact: true }).waitFor()
          await published.waitFor({ state: "hidden" })

          await page.getByLabel("Title").fill("A new search")
          await page.getByLabel("Text, for all").fill("We try it.")
          await page.getByLabel(/^From, /).fill("2100-03-01T10:00")
          await page.getByLabel(/^To, /).fill("2100-03-01T23:30")
          await page.getByText("Now unless given; the page has Asia/Tokyo").waitFor()
          const times = await draft.locator(".s").textContent()
          assert.match(
            times ?? "",
            /^Begins 1 Mar 2100, \d\d:00 GMT\+9 · Ends [12] Mar 2100, \d\d:30 GMT\+9$/,
          )
          await click("Announce")
          await rows.filter({ hasText: "A new search" }).getByText("scheduled", { exact: true }).waitFor()
          assert.match((await rows.allTextContents()).join(), /A new checkout.*A new search/s)
          await monitor.advance("20s")
          const next = shown.locator("article:not(.draft)", { hasText: "We try it." })
          await next.waitFor()
          assert.strictEqual(await next.locator(".s").textContent(), times)

          await page.getByText("Update or Call off").click()
          await click("Call off")
          await page.getByRole("dialog").getByRole("button", { name: "Call off" }).click()
          const over = rows.filter({ hasText: "A new search" })
          await over.getByText("called off", { exact: true }).waitFor()
          assert.notInclude(await over.textContent(), "until")
          await row.getByText("Update or End").click()
          await row.getByLabel("Update of").fill("Half of it is done.\nThe rest follows.")
          await click("Update")
          await row.getByText("Half of it is done.\nThe rest follows.").waitFor()
          await row.getByLabel("Update of").fill("All is done.")
          await click("End")
          await page.getByText("Your update is sent.").waitFor()
          await page.getByRole("dialog").getByRole("button", { name: "End" }).click()
          await row.getByText("ended", { exact: true }).waitFor()
          await row.getByText("All is done.").waitFor()
          await page.goto(`${baseUrl}/#/audit`)
          const link = page.getByRole("link", { name: "an announcement" }).first()
          assert.strictEqual(await link.getAttribute("href"), "#/pages")
          await click("Sign out")
          await signIn(page, await demo.addOperator("eve", "read"))
          await page.goto(`${baseUrl}/#/pages`)
          await page.getByText("Only administrators and responders announce").waitFor()
          assert.strictEqual(await rows.getByRole("button").count(), 0)
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("an address of what is not there is one sentence that says so, and the way to the others", () =>
      Effect.gen(function* () {
        const rotas = {
          primary: { order: ["ann"], every: "7d", from: "2026-11-02T09:00", tz: "UTC" },
        } as const
        const receivers = { ann: { kind: "debug" } } as const
        const { baseUrl, demo } = yield* startMonitor({ policy: { pages: { shop }, receivers, rotas } })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          const { page, faults } = await openConsole(context, baseUrl)
          await signIn(page)
          const expected = [
            ["checks/web-1/nope", "No check is called web-1/nope"],
            ["checks/nope/nope", "No check is called nope/nope"],
            ["checks/watches/nope", "No watch is called nope"],
            ["agents/nope", "No agent is called nope"],
            [
              "incidents/01900000-0000-7000-8000-000000000000",
              "No incident is called 01900000-0000-7000-8000-000000000000",
            ],
            ["on-call?rota=nope", "No rota is called nope"],
            ["pages?page=nope", "No public page is called nope"],
            ["nowhere", "No page is called nowhere"],
          ] as const
          for (const [address, title] of expected) {
            await page.goto(`${baseUrl}/#/${address}`)
            const note = page.locator("main .empty")
            await note.getByText(title, { exact: true }).waitFor()
            assert.strictEqual(await note.getByRole("link").textContent(), "See the others")
            assert.strictEqual(await page.locator("main h2").count(), 0, address)
            assert.strictEqual(await page.getByRole("alert").count(), 0, address)
          }
          await page.goto(`${baseUrl}/#/agents/nope`)
          await page.getByRole("link", { name: "See the others" }).click()
          await page.getByRole("list", { name: "Agents" }).getByRole("link", { name: "web-1" }).waitFor()
          assert.deepStrictEqual(faults, [])
        })
      }),
    )
  })
})

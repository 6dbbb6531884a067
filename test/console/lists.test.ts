import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { Browser, chromium, openConsole, openContext, signIn, skipped, violationsOf } from "./Console.ts"
import { startMonitor, startService } from "./Site.ts"

/** The IDs of the rows in their order. */
const idsOf = (page: Page) =>
  page.locator(".rows > li > .row").evaluateAll((rows) => rows.map((row) => row.dataset["id"] ?? ""))

/** Waits until the rows are these. */
const showsRows = async (page: Page, ids: ReadonlyArray<string>): Promise<void> => {
  for (let found: ReadonlyArray<string> = []; ; await page.waitForTimeout(50)) {
    const now = await idsOf(page)
    if (now.join() === ids.join()) return
    if (now.join() !== found.join()) found = now
    else if (await page.evaluate(`performance.now() > 60_000`)) assert.deepStrictEqual(found, ids)
  }
}

const watch = (name: string, more: object = {}) => ({
  name,
  every: "1h",
  tcp: { host: "127.0.0.1", port: 9 },
  ...more,
})

/** Whether the letters of an ID beside an equal title stand from left to right. */
const READS_ON = `(() => {
  const text = document.createTreeWalker(document.querySelector(".rows bdi"), NodeFilter.SHOW_TEXT).nextNode()
  const lefts = Array.from(text.data, (_, at) => {
    const range = new Range()
    range.setStart(text, at)
    range.setEnd(text, at + 1)
    return range.getBoundingClientRect().left
  })
  return lefts.every((left, at) => at === 0 || left > lefts[at - 1])
})()`

describe.skipIf(chromium === undefined)(`lists in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("sort by their heads, as the address says, and watches are searched", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          for (const [name, every] of [
            ["shop-10", "30s"],
            ["shop-2", "1h"],
            ["shop-1", "5m"],
          ] as const)
            await demo.call("POST", "ops/v1/watches", watch(name, { every }))
          for (const name of ["web-10", "web-2"]) {
            await demo.join(name)
            await demo.report(name, [
              { check_id: "disk", status: name === "web-2" ? "ok" : "critical", output: `disk of ${name}` },
            ])
          }
          for (const comment of ["move 10", "move 9", "Move 1: quiet"])
            await demo.call("POST", "ops/v1/silences", {
              matchers: [{ field: "agent_id", op: "=", value: comment }],
              for: "1h",
              comment,
            })
          const { page, faults } = await openConsole(context, `${baseUrl}/#/watches`)
          await signIn(page)
          await showsRows(page, ["shop-1", "shop-2", "shop-10"])
          const head = (name: string) => page.locator(".heads").getByRole("link", { name })
          await head("Name").click()
          assert.match(page.url(), /sort=name$/)
          await showsRows(page, ["shop-1", "shop-2", "shop-10"])
          await head("Name, ascending").click()
          assert.match(page.url(), /sort=-name$/)
          await showsRows(page, ["shop-10", "shop-2", "shop-1"])
          await head("Probes").click()
          await showsRows(page, ["shop-10", "shop-1", "shop-2"])
          // A search keeps the order, in the address as well.
          await page.getByLabel("Search").fill("SHOP 127 shop-1")
          await showsRows(page, ["shop-10", "shop-1"])
          await page.reload()
          await showsRows(page, ["shop-10", "shop-1"])
          assert.strictEqual(await page.getByLabel("Search").inputValue(), "SHOP 127 shop-1")
          await page.getByLabel("Search").fill("nothing has this")
          await page.getByText("Nothing matches").waitFor()

          await page.goto(`${baseUrl}/#/checks?filter=disk&sort=-name`)
          await showsRows(page, ["web-10/disk", "web-2/disk"])
          await head("Name, descending").click()
          await page.getByLabel("Search").fill("web")
          await showsRows(page, ["web-10/disk", "web-2/disk"])
          await head("Name").click()
          await showsRows(page, ["web-2/disk", "web-10/disk"])
          await head("State").click()
          await showsRows(page, ["web-10/disk", "web-2/disk"])

          await page.goto(`${baseUrl}/#/agents?sort=-name&filter=web`)
          await showsRows(page, ["web-10", "web-2"])
          await head("Name").click()
          await head("Name").click()
          assert.match(page.url(), /sort=name/)
          await showsRows(page, ["web-2", "web-10"])

          await page.goto(`${baseUrl}/#/silences?sort=name`)
          const comments = page.getByRole("list", { name: "Silences" }).locator("b")
          await page.getByText("move 10", { exact: true }).waitFor()
          assert.deepStrictEqual(await comments.allTextContents(), ["Move 1: quiet", "move 9", "move 10"])
          await page.getByLabel("Search").fill("QUIET move")
          await page.getByText("move 10", { exact: true }).waitFor({ state: "detached" })
          await comments.first().waitFor()
          assert.deepStrictEqual(await comments.allTextContents(), ["Move 1: quiet"])
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("of incidents, notifications and changes sort by their heads, and have titles first", () =>
      Effect.gen(function* () {
        const { baseUrl, demo, monitor } = yield* startMonitor()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          for (const [name, status] of [
            ["shop-10", "warning"],
            ["shop-2", "critical"],
            ["shop-1", "unknown"],
          ] as const) {
            await demo.join(name)
            await demo.report(name, [{ check_id: "disk", status, output: `disk of ${name}` }])
          }
          await monitor.advance("1m")
          await demo.call("PATCH", "ops/v1/checks/shop-2/disk", { title: "Archive" })
          const { page, faults } = await openConsole(context, `${baseUrl}/#/incidents`)
          await signIn(page)
          const names = (list: string) =>
            page.getByRole("list", { name: list }).locator(".main, .subject > span")
          const shows = async (list: string, ...texts: ReadonlyArray<string>) => {
            await names(list)
              .filter({ hasText: texts[0] ?? "" })
              .first()
              .waitFor()
            const first = page.locator(`ul[aria-label="${list}"] > li:first-child`)
            await first.filter({ hasText: texts[0] ?? "" }).waitFor()
            const found = (await names(list).allTextContents()).map((text) => text.trim())
            assert.deepStrictEqual(found.slice(0, texts.length), texts)
          }
          const head = (name: string) => page.locator(".heads").getByRole("link", { name }).first().click()
          await shows("Incidents", "Archive", "shop-1/disk", "shop-10/disk")
          await head("Check or key")
          assert.match(page.url(), /sort=name$/)
          await head("Check or key")
          await shows("Incidents", "shop-10/disk", "shop-1/disk", "Archive")
          await page.reload()
          await shows("Incidents", "shop-10/disk", "shop-1/disk", "Archive")

          await page.goto(`${baseUrl}/#/outbox?sort=incident`)
          const about = page.getByRole("list", { name: "Notifications" }).locator(".said > .subject")
          await about.first().waitFor()
          assert.deepStrictEqual(await about.allTextContents(), [
            "Archive · disk of shop-2",
            "shop-1/disk · disk of shop-1",
            "shop-10/disk · disk of shop-10",
          ])

          await page.goto(`${baseUrl}/#/audit?sort=-what`)
          await shows(
            "Changes",
            "titled check Archive (shop-2/disk)",
            "accepted agent shop-10",
            "accepted agent shop-2",
          )
          await head("When")
          assert.match(page.url(), /sort=when$/)
          await page.locator("ul.rows > li:last-child").filter({ hasText: "titled check Archive" }).waitFor()
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("have boxes, whose acts ask once with their number, and name what they were not done to", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          for (const name of ["shop-1", "shop-2", "shop-3", "shop-4"])
            await demo.call("POST", "ops/v1/watches", watch(name))
          const { page, faults } = await openConsole(context, `${baseUrl}/#/watches`)
          await signIn(page)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          const box = (name: string) => page.getByLabel(`Select ${name}`, { exact: true })
          const topOf = () => page.locator(".rows").evaluate((rows) => rows.getBoundingClientRect().top)
          await showsRows(page, ["shop-1", "shop-2", "shop-3", "shop-4"])
          const top = await topOf()
          await box("shop-1").check()
          await box("shop-3").check()
          assert.strictEqual(await topOf(), top)
          assert.match(page.url(), /selected=shop-1%2Cshop-3$/)
          // The order keeps what is selected, and so does what arrives.
          await page.locator(".heads").getByRole("link", { name: "Name" }).click()
          await demo.call("POST", "ops/v1/watches", watch("shop-0"))
          await showsRows(page, ["shop-0", "shop-1", "shop-2", "shop-3", "shop-4"])
          await page.getByText("2 selected").waitFor()
          await click("Pause")
          await page.getByRole("dialog").getByText("Pause 2 watches for 8 h?").waitFor()
          await click("Pause 2 watches")
          await page.getByText("Paused 2 watches").waitFor()
          await page.locator('[data-id="shop-3"]').getByText("paused").waitFor()
          assert.notInclude(page.url(), "selected")

          // Keys alone; another person deletes one of them meanwhile.
          await page.keyboard.press("Escape")
          for (const key of ["j", "x", "j", "X"]) await page.keyboard.press(key)
          await page.getByText("2 selected").waitFor()
          await page.keyboard.press("s")
          const form = page.getByRole("dialog", { name: "Silence 2 watches" })
          await form.getByLabel("For").fill("soon")
          await form.getByLabel("Comment").fill("shop is moved")
          await form.getByRole("button", { name: "Silence" }).click()
          await form.getByRole("alert").getByText("“soon” is neither a duration").waitFor()
          await form.getByLabel("For").fill("1h")
          await page.keyboard.press("Enter")
          await page.getByText("Silenced 2 watches").waitFor()

          await page.goto(`${baseUrl}/#/watches?selected=shop-2,shop-3,shop-gone`)
          await page.getByText("3 selected").waitFor()
          await page.route("**/ops/v1/watches/shop-3", (route) =>
            route.fulfill({
              status: 409,
              json: { error: { code: "conflict", message: "the policy defines it" } },
            }),
          )
          await click("Delete")
          await page
            .getByText(/^Delete 2 watches.* 1 selected row left this list, and stays as it is\.$/)
            .waitFor()
          await click("Delete 2 watches")
          await page
            .getByRole("alert")
            .getByText("Deleted 1 of 2 watches; still selected: shop-3 (the policy defines it)")
            .waitFor()
          await showsRows(page, ["shop-0", "shop-1", "shop-3", "shop-4"])
          assert.isTrue(await box("shop-3").isChecked())
          assert.match(page.url(), /selected=shop-3$/)
          // Rows that a search leaves out are selected no more.
          await page.getByLabel("Search").fill("shop-4")
          await showsRows(page, ["shop-4"])
          await page.getByText("1 selected").waitFor({ state: "detached" })

          await page.goto(`${baseUrl}/#/silences?tab=active`)
          await page.getByLabel("Select all").check()
          await click("Delete")
          await click("Delete 2 silences")
          await page.getByText("Nothing is silenced").waitFor()
          await page.goto(`${baseUrl}/#/agents`)
          await box("watches").check()
          for (const name of ["Silence", "Delete"])
            await page.locator(".bar").getByRole("button", { name, exact: true }).waitFor()
          assert.strictEqual(await page.getByRole("button", { name: "Pause", exact: true }).count(), 0)
          assert.deepStrictEqual(await violationsOf(page, "all"), [])
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("have no two rows of one name, and forms beside their rows", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.call("POST", "ops/v1/watches", watch("backup", { title: "Backup (nightly)" }))
          for (const name of Array.from({ length: 14 }, (_, place) => `${place}-shop`)) {
            await demo.call("POST", "ops/v1/watches", watch(name, { title: "Shop" }))
            const matchers = [{ field: "agent_id", op: "=", value: name }]
            await demo.call("POST", "ops/v1/silences", { matchers, for: "1h", comment: "moves" })
          }
          const { page, faults } = await openConsole(context, `${baseUrl}/#/silences`)
          await signIn(page)
          for (const list of ["silences", "watches"]) {
            await page.goto(`${baseUrl}/#/${list}`)
            await page.locator(".rows .row").nth(13).waitFor({ state: "attached" })
            const names = await page.locator(".rows :is(b, a.main)").allTextContents()
            assert.strictEqual(new Set(names).size, names.length, names.join())
          }
          const backup = page.locator(".rows a.main", { hasText: "Backup (nightly)" })
          assert.strictEqual(await backup.innerHTML(), "Backup (nightly)")
          assert.isTrue(await page.evaluate(READS_ON))
          for (const place of [0, 5, 13]) {
            const row = page.locator(".rows li").nth(place)
            await row.scrollIntoViewIfNeeded()
            await row.getByRole("button", { name: "Change" }).click()
            const form = page.getByRole("dialog")
            const [at, opened] = await Promise.all([row.boundingBox(), form.boundingBox()])
            assert.isNotNull(at)
            assert.isNotNull(opened)
            const gap = Math.max(opened.y - at.y - at.height, at.y - opened.y - opened.height)
            assert.isBelow(gap, 160, `row ${place}`)
            assert.isAtLeast(opened.y, 0)
            assert.isAtMost(opened.y + opened.height, 900)
            await form.getByRole("button", { name: "Cancel" }).click()
          }
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("give a reader no boxes", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.call("POST", "ops/v1/watches", watch("shop-1"))
          const token = await demo.addOperator("ada", "read")
          const { page } = await openConsole(context, `${baseUrl}/#/watches?selected=shop-1`)
          await signIn(page, token)
          await showsRows(page, ["shop-1"])
          assert.strictEqual(await page.getByRole("checkbox").count(), 0)
          assert.strictEqual(await page.locator(".bar").count(), 0)
        })
      }),
    )
  })
})

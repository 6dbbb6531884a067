import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startService } from "./Site.ts"

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
          for (const comment of ["move 10", "move 9", "Move 1"])
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
          assert.deepStrictEqual(await comments.allTextContents(), ["Move 1", "move 9", "move 10"])
          await page.getByLabel("Search").fill("move 9")
          await page.getByText("move 10", { exact: true }).waitFor({ state: "detached" })
          assert.deepStrictEqual(await comments.allTextContents(), ["move 9"])
          assert.deepStrictEqual(faults, [])
        })
      }),
    )
  })
})

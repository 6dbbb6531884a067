import { readFileSync } from "node:fs"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { AT_LENGTH } from "../properties/atLength.ts"
import { Browser, chromium, openConsole, openContext, signIn, skippedAtLength } from "./Console.ts"
import { Site, startService } from "./Site.ts"

/** More than a page of a list has. */
const MANY = 620

const exported = async (page: Page, kind: string): Promise<string> => {
  const saved = page.waitForEvent("download")
  await page.getByRole("button", { name: `Export ${kind}` }).click()
  const download = await saved
  assert.match(download.suggestedFilename(), new RegExp(`^[a-z]+[.]${kind.toLowerCase()}$`))
  return readFileSync(await download.path(), "utf8")
}

describe.skipIf(chromium === undefined || !AT_LENGTH)(`lists as files${skippedAtLength}`, () => {
  layer(Layer.merge(Browser.layer, Site.layer), { excludeTestServices: true })((it) => {
    it.effect("have all rows that the filters find, as CSV and as JSON", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          for (const host of ["host-many", "host-other"]) await demo.join(host)
          const results = Array.from({ length: MANY }, (_, index) => ({
            check_id: `check-${index}`,
            status: "warning" as const,
            output: index === 0 ? '=HYPERLINK("http://example.com","é, ü")' : `check ${index} is bad`,
          }))
          await demo.report("host-many", results)
          await demo.report("host-other", [{ check_id: "disk", status: "critical", output: "full" }])
          const { page, faults } = await openConsole(context, `${baseUrl}/#/incidents?filter=host-many/`)
          await signIn(page)
          await page
            .getByRole("link", { name: /is bad$/ })
            .first()
            .waitFor()
          const csv = await exported(page, "CSV")
          assert.strictEqual(csv.split("\r\n").length, MANY + 2)
          assert.include(csv, `"'=HYPERLINK(""http://example.com"",""é, ü"")"`)
          assert.notInclude(csv, "host-other")
          const json = JSON.parse(await exported(page, "JSON")) as { readonly items: ReadonlyArray<unknown> }
          assert.strictEqual(json.items.length, MANY)
          for (const [address, rows] of [
            ["incidents?filter=nothing", 0],
            ["incidents?severity=critical", 1],
            ["checks", MANY + 1],
            ["checks?filter=host-other/&view=grid", 1],
            ["outbox?tab=failed", 0],
            ["agents", 2],
            ["silences", 0],
            ["audit?actor=nobody", 0],
          ] as const) {
            await page.goto(`${baseUrl}/#/${address}`)
            await page.getByRole("heading", { level: 1 }).waitFor()
            assert.strictEqual((await exported(page, "CSV")).split("\r\n").length, rows + 2, address)
            const { items } = JSON.parse(await exported(page, "JSON")) as typeof json
            assert.strictEqual(items.length, rows, address)
          }
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("list resolved incidents by day, severity and agent, and how long each took", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          for (const host of ["host-a", "host-b"]) await demo.join(host)
          await demo.report("host-a", [{ check_id: "disk", status: "critical", output: "a is full" }])
          await demo.report("host-b", [{ check_id: "disk", status: "warning", output: "b is full" }])
          for (const host of ["host-a", "host-b"])
            await demo.report(host, [{ check_id: "disk", status: "ok", output: "fine" }])
          const { page } = await openConsole(context, `${baseUrl}/#/incidents?tab=resolved`)
          await signIn(page)
          const rows = page.getByRole("list", { name: "Incidents" }).getByRole("listitem")
          await rows.nth(1).waitFor()
          assert.match((await rows.first().locator(".took").textContent()) ?? "", /^\d+s$/)
          await page.getByRole("combobox", { name: "Severity" }).selectOption("critical")
          await page.getByRole("link", { name: "b is full" }).waitFor({ state: "detached" })
          await page.getByRole("link", { name: "a is full" }).waitFor()
          await page.getByLabel("to", { exact: true }).fill("2020-01-01")
          await page.getByText("No incident matches").waitFor()
          assert.strictEqual((await exported(page, "CSV")).split("\r\n").length, 2)
          await page.getByLabel("to", { exact: true }).fill("")
          await page.getByLabel("From", { exact: true }).fill("2020-01-01")
          await page.getByRole("link", { name: "a is full" }).waitFor()
          await page.getByLabel("Search").fill("host-b/")
          await page.getByText("No incident matches").waitFor()
        })
      }),
    )
  })
})

import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { Site, startService } from "./Site.ts"

const LONG = "The nightly copy of all invoices of the shop in the second hall to the archive of the company"
const check = (n: number) => ({
  agent_id: "backup-1",
  check_id: `invoices-${n}`,
  title: `${LONG} ${n}`.slice(0, 100),
})
const times = { from: "2026-01-10T03:00:00.000Z", to: "2026-01-10T03:05:00.000Z" }
const seconds = { ok: 5, warning: 1, critical: 1, unknown: 1, late: 1, planned: 0, no_data: 0 }

const WARNED = { ok: 0, critical: 0, unknown: 0, late: 0, planned: 60, no_data: 10 }

/** A report with as many rows as the service answers. */
const FULL = {
  groups: Array.from({ length: 40 }, (_, n) => ({
    group: `team-${n}`,
    checks: 12,
    ...(n === 0 ? { percent: 0, warned: true } : { percent: 99.1 }),
  })),
  worst: Array.from({ length: 10 }, (_, n) =>
    n === 3
      ? { ...check(n), percent: 0, seconds: { ...WARNED, warning: 300 } }
      : n === 4
        ? { ...check(n), percent: 16.667, seconds: { ...WARNED, ok: 60, warning: 300 } }
        : { ...check(n), percent: 50 + n, seconds },
  ),
  incidents: Array.from({ length: 500 }, (_, n) => ({
    ...check(n),
    id: `0190a5d0-0000-7000-8000-${String(n).padStart(12, "0")}`,
    incident_key: `backup-1/invoices-${n}`,
    state: "resolved",
    severity: "critical",
    opened_at: times.from,
    resolved_at: times.to,
    duration_seconds: 300,
    acknowledged_by: "ann",
    acknowledged_after_seconds: 61,
  })),
  late: Array.from({ length: 500 }, (_, n) => ({ ...check(n), ...times })),
  left_out: { incidents: 7, late: 0 },
}

describe.skipIf(chromium === undefined)(`the report${skipped}`, () => {
  layer(Layer.merge(Browser.layer, Site.layer), { excludeTestServices: true })((it) => {
    it.effect("shows a month or a span, and has at most two pages of A4 or Letter", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          await demo.report("web-1", [{ check_id: "disk", status: "ok", output: "fine" }])
          const { page, faults } = await openConsole(context, `${baseUrl}/#/report`)
          await signIn(page)
          await page.getByText("1 check: percentages are of the time with data").waitFor()
          assert.strictEqual(await page.getByLabel("From").count(), 0)
          assert.match(await page.getByLabel("Month").inputValue(), /^\d{4}-\d\d$/)
          await page.getByLabel("Month").selectOption({ label: "by days" })
          await page.getByLabel("From").waitFor()
          assert.include(page.url(), "month=days")

          await page.route("**/ops/v1/report?*", (route) => route.fulfill({ json: FULL }))
          await page.goto(`${baseUrl}/#/report?group=team&match=label:site+%3D+hall`)
          await page.getByRole("rowheader", { name: "team-3", exact: true }).waitFor()
          assert.strictEqual(await page.getByRole("row").count(), 40 + 10 + 500 + 500 + 4)
          await page.getByText("7 more: choose a shorter span").waitFor()
          // One that only warned was there: 0.000 % would say that it was down.
          await page.getByRole("cell", { name: "warned of 5m" }).waitFor()
          assert.strictEqual(await page.getByText("0.000 %", { exact: true }).count(), 0)
          await page.getByRole("cell", { name: "warned of 6m" }).waitFor()
          for (const format of ["A4", "Letter"]) {
            const printed = (await page.pdf({ format })).toString("latin1")
            assert.isAtMost(printed.match(/\/Type \/Page\b/g)?.length ?? 99, 2, format)
          }
          // It is read again after five minutes, and shows what it knows meanwhile.
          await page.route("**/ops/v1/report?*", () => {})
          const again = page.waitForRequest(/\/ops\/v1\/report\?/)
          await page.evaluate("{ const now = Date.now; Date.now = () => now() + 330_000 }")
          await again
          assert.strictEqual(await page.getByRole("row").count(), 40 + 10 + 500 + 500 + 4)
          assert.deepStrictEqual(faults, [])
        })
      }),
    )
  })
})

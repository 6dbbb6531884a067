import { setTimeout } from "node:timers/promises"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator, Page, Request } from "playwright-core"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import {
  Browser,
  chromium,
  enterToken,
  isWide,
  openConsole,
  openNewContext,
  skipped,
  violationsOf,
  waitUntil,
} from "./Console.ts"
import type { TestMonitor } from "tocsin/testing"
import { startMonitor } from "./Site.ts"

const KEPT = `localStorage.getItem("tocsin.wall")`
const IS_TALL = "document.documentElement.scrollHeight > innerHeight"

/** How many incidents a screen shows in whole rows, and counts. */
const COUNTED = `Array.from(document.querySelectorAll(".wall .part:first-child")).map((part) => {
  const rest = Number(/and (\\d+) more/.exec(part.innerText)?.[1] ?? 0)
  const ends = part.querySelector("ul").getBoundingClientRect().bottom
  const rows = Array.from(part.querySelectorAll("li:not(.rest)"))
  return rows.filter((row) => row.getBoundingClientRect().bottom <= ends + 1).length + rest
})[0]`

/** The parts without a whole row of theirs, or that reach into the foot. */
const ROOMLESS = `Array.from(document.querySelectorAll(".wall .part")).filter((part) => {
  const foot = document.querySelector(".wall footer").getBoundingClientRect().top
  const { bottom } = part.getBoundingClientRect()
  const row = part.querySelector("li")
  return bottom > foot + 1 || (row !== null && row.getBoundingClientRect().bottom > bottom + 1)
}).map((part) => part.innerText)`

/** Drives the clocks of the browser and of the service: the seconds until something is there, or gone. */
const clockOf = (page: Page, monitor: TestMonitor) => {
  const asked = new Set<Request>()
  page.on("request", (request) => void (request.url().includes("/ops/v1/stream") || asked.add(request)))
  page.on("requestfinished", (request) => void asked.delete(request))
  page.on("requestfailed", (request) => void asked.delete(request))
  return async (wanted: Locator, isThere = true): Promise<number> => {
    for (let seconds = 0; seconds < 180; seconds += 4) {
      if ((await wanted.isVisible()) === isThere) return seconds
      // A load of the page ends it.
      await page.clock.runFor(4_000).catch(() => undefined)
      await monitor.advance("4s")
      // No request times out because the clock is driven.
      for (let wait = 0; asked.size > 0 && wait < 500; wait += 1) await setTimeout(20)
    }
    return Infinity
  }
}

const pages = new Map([
  ["wide", [1280, 720]],
  ["large", [3840, 2160]],
  ["phone", [320, 568]],
] as const)

describe.skipIf(chromium === undefined)(`the wall${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("keeps a token that only reads, fits each screen, and is back after each outage", () =>
      Effect.gen(function* () {
        const { baseUrl, demo, monitor } = yield* startMonitor()
        const context = yield* openNewContext
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          const checks = Array.from({ length: 14 }, (_, n) => `check-${n}`)
          await demo.report(
            "web-1",
            checks.map((check_id, n) => ({
              check_id,
              status: n === 7 ? "critical" : "warning",
              output: `${check_id} is slow`,
            })),
          )
          await context.clock.install()
          const { page, faults } = await openConsole(context, `${baseUrl}/#/wall`)
          const secondsUntil = clockOf(page, monitor)
          await enterToken(page, OPERATOR_TOKEN)
          await page.getByRole("alert").getByText("its role is admin").waitFor()
          assert.isNull(await page.evaluate(KEPT))
          await enterToken(page, await demo.addOperator("lobby", "read"))
          await page.getByText("token of lobby, kept on this device").waitFor()
          const first = page.getByRole("region", { name: "Open incidents" }).getByRole("listitem").first()
          await first.getByRole("link", { name: "web-1/check-7" }).waitFor()
          await first.getByText("check-7 is slow").waitFor()
          for (const [name, [width, height]] of pages) {
            await page.setViewportSize({ width, height })
            await waitUntil(page, `${COUNTED} === 14`)
            assert.isFalse((await isWide(page)) || (await page.evaluate<boolean>(IS_TALL)), name)
          }
          await page.setViewportSize({ width: 1280, height: 720 })
          assert.deepStrictEqual(await violationsOf(page, "all"), [])

          const stale = page.getByText(/^Not all current since/)
          assert.strictEqual(await stale.count(), 0)
          await page.route("**/ops/**", (route) => route.fulfill({ status: 502, body: "Bad Gateway" }))
          assert.isAtMost(await secondsUntil(stale), 30)
          const moment = async (of: string) =>
            page.locator(of).locator("time").last().getAttribute("datetime")
          assert.strictEqual(await moment(".stale"), await moment(".updated"))
          await page.unroute("**/ops/**")
          await secondsUntil(stale, false)

          const body = { error: { code: "unauthorized", message: "the token is not valid" } }
          await page.route("**/ops/**", (route) => route.fulfill({ status: 401, json: body }))
          await secondsUntil(page.getByText(/^Nothing shown since/))
          assert.strictEqual(await page.getByText("check-7").count(), 0)
          assert.deepStrictEqual(await violationsOf(page, "all"), [])
          await page.unroute("**/ops/**")
          const worst = first.getByText("check-7 is slow")
          assert.isAtMost(await secondsUntil(worst), 60)

          const html = '<script src="console/app.js?v=0123456789abcdef"></script>'
          await page.route(`${baseUrl}/`, (route) =>
            route.request().resourceType() === "fetch"
              ? route.fulfill({ contentType: "text/html", body: html })
              : route.continue(),
          )
          await page.evaluate("document.body.id = 'old'")
          assert.isAtMost(await secondsUntil(page.locator("#old"), false), 60)
          await page.unroute(`${baseUrl}/`)
          await worst.waitFor()
          assert.deepStrictEqual(faults, [])
          await page.getByRole("button", { name: "Forget the token" }).click()
          await page.getByLabel("This is a wall").waitFor()
          assert.isNull(await page.evaluate(KEPT))
        })
      }),
    )

    it.effect("leaves each part a row and the foot its place on a phone with hundreds of incidents", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startMonitor()
        const context = yield* openNewContext
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          const failing = Array.from({ length: 250 }, (_, n) => `check-${n}`)
          for (const start of [0, 100, 200])
            await demo.report(
              "web-1",
              failing
                .slice(start, start + 100)
                .map((check_id) => ({ check_id, status: "critical", output: "down" })),
            )
          const { page } = await openConsole(context, `${baseUrl}/#/wall`)
          await page.setViewportSize({ width: 390, height: 844 })
          await enterToken(page, await demo.addOperator("lobby", "read"))
          await page.getByRole("region", { name: "Open incidents" }).getByRole("listitem").first().waitFor()
          const roomless = async () => page.evaluate<ReadonlyArray<string>>(ROOMLESS)
          for (let tries = 0; tries < 40 && (await roomless()).length > 0; tries += 1)
            await page.waitForTimeout(100)
          assert.deepStrictEqual(await roomless(), [])
          assert.isFalse((await isWide(page)) || (await page.evaluate<boolean>(IS_TALL)))
        })
      }),
    )

    it.effect.skipIf(!AT_LENGTH)(`takes no more memory after a night of changes${unlessAtLength}`, () =>
      Effect.gen(function* () {
        const { baseUrl, demo, monitor } = yield* startMonitor()
        const context = yield* openNewContext
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          await context.clock.install()
          const { page } = await openConsole(context, `${baseUrl}/#/wall`)
          await enterToken(page, await demo.addOperator("lobby", "read"))
          await page.getByText("token of lobby, kept on this device").waitFor()
          const session = await context.newCDPSession(page)
          const heap = async (): Promise<number> => {
            await session.send("HeapProfiler.collectGarbage")
            return (await session.send("Runtime.getHeapUsage")).usedSize
          }
          const change = async (minutes: number): Promise<void> => {
            for (let minute = 0; minute < minutes; minute += 1) {
              const status = minute % 2 === 0 ? "critical" : "ok"
              await demo.report("web-1", [
                { check_id: `check-${minute % 7}`, status, output: `in ${minute}` },
              ])
              for (let third = 0; third < 3; third += 1) {
                await page.clock.runFor(20_000)
                await monitor.advance("20s")
                await demo.heartbeat("web-1")
              }
            }
          }
          // The first hours fill its lists, its last answers, and the times of requests that a browser keeps.
          const heaps: Array<number> = []
          for (let hour = 1; hour <= 8; hour += 1) {
            await change(60)
            heaps.push(await heap())
          }
          console.log(`heap of a wall after each hour, in bytes: ${heaps.join(", ")}`)
          const [before = 0, after = Infinity] = [heaps[2], heaps[7]]
          // It differs by some percent from hour to hour.
          assert.isBelow(after, before * 1.1)
        })
      }),
    )
  })
})

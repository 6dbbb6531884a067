import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { BrowserContext, Page } from "playwright-core"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { Browser, chromium, openConsole, openContext, openNewContext, signIn, skipped } from "./Console.ts"
import { Site } from "./Site.ts"

/** Opens a page whose stream is open, so that no poll reads it again. */
const openStreaming = async (context: BrowserContext, address: string): Promise<Page> => {
  const { page } = await openConsole(context, address)
  const streaming = page.waitForResponse((response) => response.url().includes("/ops/v1/stream"))
  await signIn(page)
  await streaming
  return page
}

/** Lets a test have a proxy answer in place of the server, for addresses with this text. */
const startOutages = async (page: Page, text: string) => {
  let isDown = false
  await page.route(
    (url) => url.pathname.includes(text),
    (route) => (isDown ? route.fulfill({ status: 502, body: "Bad Gateway" }) : route.continue()),
  )
  return {
    begin: () => (isDown = true),
    end: () => (isDown = false),
  }
}

/** Of a browser whose computer slept for eight hours: its steady clock stood still. */
const SLEPT = `{
  const awake = performance.now.bind(performance)
  performance.now = () => awake() - 8 * 3_600_000
}`

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined)(`a page beside a stream that works${skipped}`, () => {
  layer(shared, { excludeTestServices: true })((it) => {
    it.effect.skipIf(!AT_LENGTH)(
      `shows what time alone brings about, which the stream does not name${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* Site
          const context = yield* openContext
          yield* Effect.promise(async () => {
            const page = await openStreaming(context, `${baseUrl}/#/silences?tab=all`)
            const matchers = [{ field: "agent_id", op: "=", value: "host-brief" }]
            await demo.call("POST", "ops/v1/silences", { matchers, for: "5s", comment: "Ends soon" })
            const silences = page.getByRole("list", { name: "Silences" })
            await silences.getByText("active").waitFor()
            await silences.getByText("expired").waitFor()
          })
        }),
    )

    it.effect("says that what it shows is not current, and repeats a read that did not get through", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-missed")
          const page = await openStreaming(context, `${baseUrl}/#/incidents`)
          const agents = await startOutages(page, "/agents")
          for (const [name, shown] of [
            ["agents", page.getByRole("link", { name: "host-missed" })],
            ["agents/host-missed", page.getByText("last seen")],
          ] as const) {
            agents.begin()
            await page.goto(`${baseUrl}/#/${name}`)
            await page.getByText("Waiting for the server").waitFor()
            agents.end()
            await shown.waitFor()
            agents.begin()
            await demo.heartbeat("host-missed", { labels: { page: name.replace("/", "-") } })
            await page.getByText("This is not current").waitFor()
            await shown.waitFor()
            agents.end()
            await page.getByText("This is not current").waitFor({ state: "detached" })
            await page.getByText(`page=${name.replace("/", "-")}`, { exact: true }).waitFor()
          }
        })
      }),
    )

    it.effect("shows no count that was never read", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-counted")
          const { page } = await openConsole(context, baseUrl)
          const summary = await startOutages(page, "/ops/v1/summary")
          summary.begin()
          await signIn(page)
          await page.getByText("– open · – alive").waitFor()
          summary.end()
          await page.getByText(/\d open · \d+ alive/).waitFor()
        })
      }),
    )

    it.effect.skipIf(!AT_LENGTH)(
      `reads again what the reader scrolls back to, if it changed meanwhile${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* Site
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("host-long")
            const names = Array.from({ length: 250 }, (_, index) => `check-${index}`)
            await demo.report(
              "host-long",
              names.map((check_id) => ({ check_id, status: "warning", output: `${check_id} is slow` })),
            )
            const page = await openStreaming(context, `${baseUrl}/#/incidents?filter=host-long/`)
            const rows = page.getByRole("list", { name: "Incidents" }).getByRole("listitem")
            await rows.first().getByRole("link", { name: "is slow" }).waitFor()
            const scrollTo = (row: number) =>
              page.evaluate(`{
              const height = document.querySelector(".rows li").getBoundingClientRect().height
              window.scrollTo(0, ${row} * height)
            }`)
            for (const row of [50, 100, 150]) {
              await scrollTo(row)
              await page
                .locator(`.rows li[aria-posinset="${row + 10}"]`)
                .getByRole("link")
                .first()
                .waitFor()
            }
            const read = page.waitForResponse((response) => response.url().includes("cursor="))
            await demo.report("host-long", [{ check_id: "disk", status: "critical", output: "disk is full" }])
            await read
            await scrollTo(0)
            await page.getByRole("link", { name: "disk is full" }).waitFor()
            assert.strictEqual(await rows.first().getByRole("link", { name: "disk is full" }).count(), 1)
          })
        }),
    )

    it.effect("shows times by the clock of the computer, which goes on while it sleeps", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openNewContext
        yield* Effect.promise(async () => {
          await demo.join("host-asleep")
          await context.addInitScript(SLEPT)
          const page = await openStreaming(context, `${baseUrl}/#/agents?filter=host-asleep`)
          const row = page.getByRole("listitem").filter({ hasText: "host-asleep.example" })
          assert.match((await row.getByRole("time").textContent()) ?? "", /^now |ago /)
        })
      }),
    )
  })
})

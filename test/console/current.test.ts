import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import type { Page } from "playwright-core"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import {
  Browser,
  chromium,
  openConsole,
  openContext,
  openNewContext,
  signIn,
  skipped,
  waitUntil,
} from "./Console.ts"
import { DemoClient } from "./demo.ts"
import { startProxy } from "./startProxy.ts"
import { Site, startService } from "./Site.ts"

const shown = (page: Page, name: string): Promise<void> => page.getByRole("link", { name }).first().waitFor()

const breakCheck = (demo: DemoClient, agent: string, output: string): Promise<void> =>
  demo.report(agent, [{ check_id: output.replaceAll(" ", "-"), status: "critical", output }])

/** Lets a test hide a tab, keeps what the tab asks for while it is hidden, and counts the reads under way. */
const HIDE = `{
  let isHidden = false
  const send = window.fetch
  window.askedHidden = []
  window.reading = 0
  window.fetch = (address, options) => {
    if (isHidden) window.askedHidden.push(String(address))
    const answer = send(address, options)
    if (!String(address).includes("/ops/v1/stream")) {
      window.reading += 1
      // After the reader of the body, which may ask for more.
      const end = () => setTimeout(() => (window.reading -= 1), 50)
      answer.then((read) => read.clone().text()).then(end, end)
    }
    return answer
  }
  Object.defineProperty(document, "hidden", { get: () => isHidden })
  window.hide = () => {
    isHidden = true
    document.dispatchEvent(new Event("visibilitychange"))
  }
}`

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined)(`a console that stays open${skipped}`, () => {
  layer(shared, { excludeTestServices: true })((it) => {
    it.effect.skipIf(!AT_LENGTH)(
      `reads one stream for all tabs, and none for a hidden one${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* Site
          const context = yield* openNewContext
          yield* Effect.promise(async () => {
            await demo.join("host-tabs")
            await breakCheck(demo, "host-tabs", "first is down")
            const streams: Array<Page> = []
            context.on("request", (request) => {
              if (request.url().includes("/ops/v1/stream")) streams.push(request.frame().page())
            })
            await context.addInitScript(HIDE)
            const address = `${baseUrl}/#/incidents?filter=host-tabs`
            const { page: first } = await openConsole(context, address)
            await first.getByLabel("Stay signed in on this device").check()
            await signIn(first)
            await shown(first, "first is down")
            const { page: second } = await openConsole(context, address)
            await shown(second, "first is down")
            await breakCheck(demo, "host-tabs", "second is down")
            await Promise.all([shown(first, "second is down"), shown(second, "second is down")])
            assert.deepStrictEqual(streams, [first])

            const taken = context.waitForEvent("request", (request) =>
              request.url().includes("/ops/v1/stream"),
            )
            await first.evaluate("hide()")
            await taken
            assert.deepStrictEqual(streams, [first, second])
            // A list of two reads that had begun may end while its tab is hidden.
            await waitUntil(first, "reading === 0 && [(askedHidden.length = 0)]")
            await breakCheck(demo, "host-tabs", "third is down")
            await shown(second, "third is down")
            assert.deepStrictEqual(await first.evaluate("askedHidden"), [])
          })
        }),
    )

    it.effect("signs out of all tabs that share a kept token, and of no other", () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page: alone } = await openConsole(context, baseUrl)
          await signIn(alone)
          // Another tab keeps another token.
          await alone.evaluate(() => localStorage.setItem("tocsin.token", "another"))
          await alone.getByRole("button", { name: "Sign out" }).click()
          await alone.getByLabel("Stay signed in on this device").waitFor()
          assert.strictEqual(await alone.evaluate(() => localStorage.getItem("tocsin.token")), "another")
          await alone.evaluate(() => localStorage.clear())
          await signIn(alone)
          const { page: first } = await openConsole(context, `${baseUrl}/#/agents`)
          await first.getByLabel("Stay signed in on this device").check()
          await signIn(first)
          const { page: second } = await openConsole(context, `${baseUrl}/#/outbox`)
          await second.getByRole("button", { name: "Sign out" }).click()
          await first.getByText("You were signed out in another tab.").waitFor()
          assert.strictEqual(first.url(), `${baseUrl}/#/agents`)
          await alone.getByRole("link", { name: "Incidents", exact: true }).waitFor()
        })
      }),
    )

    it.effect("follows a trusted prefix of a proxy, and polls where no stream gets through", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const proxy = yield* startProxy(baseUrl)
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-proxy")
          await breakCheck(demo, "host-proxy", "first is away")
          // Without the slash, only the header leads to the files.
          const { page, faults, origins } = await openConsole(
            context,
            `${proxy}/watch#/incidents?filter=host-proxy`,
          )
          await signIn(page)
          await shown(page, "first is away")
          await breakCheck(demo, "host-proxy", "second is away")
          await shown(page, "second is away")
          await page.getByRole("link", { name: "second is away" }).click()
          await page.getByRole("button", { name: "Acknowledge" }).click()
          await page.getByText(/has acknowledged it/).waitFor()
          const agents = `${proxy}/watch/ops/v1/agents?*`
          await page.route(agents, (route) => route.fulfill({ contentType: "text/html", body: "Sign in" }))
          await page.getByRole("link", { name: "Agents", exact: true }).click()
          await page.getByText("Another program answers at this address").waitFor()
          await page.unroute(agents)
          await page.getByRole("link", { name: "host-proxy" }).waitFor()
          assert.deepStrictEqual(faults, [])
          assert.deepStrictEqual(Array.from(origins), [proxy])

          const headers = { accept: "text/html", "x-forwarded-prefix": '"><script>' }
          const answer = await fetch(baseUrl, { headers })
          assert.include(await answer.text(), 'src="console/app.js')
          assert.strictEqual(
            answer.headers.get("content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; frame-src 'self'; manifest-src 'self'; worker-src 'self'; require-trusted-types-for 'script'",
          )
          const { service } = (await (await fetch(baseUrl)).json()) as { readonly service: string }
          assert.strictEqual(service, "tocsin")
        })
      }),
    )

    it.effect.skipIf(!AT_LENGTH)(
      `shows what another replica took, and that the two follow different policies${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const { url } = yield* scratchPostgres
          const environment = { DATABASE_URL: Redacted.value(url) }
          const here = yield* startService(environment)
          const policy = join(yield* scratchFolder, "policy.yaml")
          writeFileSync(policy, "freshness: [ { match: [ check_id = disk ], every: 1h } ]\n")
          const there = yield* startService({ ...environment, SERVICE_POLICY_FILE: policy })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await there.demo.join("web-1")
            const { page } = await openConsole(context, here.baseUrl)
            await signIn(page)
            await page.getByText("Waiting for the first results").waitFor()
            await breakCheck(there.demo, "web-1", "disk is full")
            await shown(page, "disk is full")
            await page.getByRole("link", { name: "System", exact: true }).click()
            const servers = page.getByRole("list", { name: "Servers" })
            await servers.getByText("same").waitFor()
            await servers.getByText("differs").waitFor()
            await page.getByRole("alert").getByText("follow different policies").waitFor()
          })
        }),
    )

    it.effect(
      "says within 10 s that the server is lost, and asks to reload if it comes back as another",
      () =>
        Effect.gen(function* () {
          const cwd = yield* scratchFolder
          const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_LOG_LEVEL: "info" }
          const first = yield* startServer({ cwd, environment })
          const demo = new DemoClient(first.baseUrl)
          const context = yield* openContext
          const { page } = yield* Effect.promise(() => openConsole(context, first.baseUrl))
          yield* Effect.promise(async () => {
            await demo.join("web-1")
            await breakCheck(demo, "web-1", "disk is full")
            // Only another stream than the page's first one is that of another server.
            const streaming = page.waitForResponse((response) => response.url().includes("/ops/v1/stream"))
            await signIn(page)
            await streaming
            await shown(page, "web-1/disk-is-full")
            const body = '<script src="console/app.js?v=0123456789abcdef"></script>'
            await page.route(`${first.baseUrl}/`, (route) =>
              route.fulfill({ contentType: "text/html", body }),
            )
          })
          yield* first.kill
          yield* Effect.promise(() => page.getByText("Connection lost.").waitFor())
          yield* startServer({ cwd, environment: { ...environment, SERVICE_PORT: String(first.port) } })
          yield* Effect.promise(() => page.getByText("Connection lost.").waitFor({ state: "detached" }))
          yield* Effect.promise(async () => {
            await page.getByText("The server has another version of this page").waitFor()
            await page.unroute(`${first.baseUrl}/`)
            await page.getByRole("button", { name: "Reload" }).click()
            await shown(page, "web-1/disk-is-full")
            assert.strictEqual(await page.getByRole("button", { name: "Reload" }).count(), 0)
          })
        }),
    )

    it.effect("is off on request", () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* startService({ SERVICE_CONSOLE: "off" })
        yield* Effect.promise(async () => {
          const answer = await fetch(baseUrl, { headers: { accept: "text/html" } })
          assert.strictEqual(answer.headers.get("content-type"), "application/json")
          assert.strictEqual((await fetch(`${baseUrl}/console/app.js`)).status, 404)
        })
      }),
    )
  })
})

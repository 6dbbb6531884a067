import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import { join } from "node:path"
import type { AddressInfo } from "node:net"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { lacking } from "../../scripts/programs.mjs"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { Browser, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startService } from "./Site.ts"

const CERTIFIER = "openssl"
const NEW = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 90 -subj /CN=nas.lan"

/** A page of this machine with a certificate that nobody knows. */
const startPrivatePage = Effect.gen(function* () {
  const folder = yield* scratchFolder
  execFileSync(CERTIFIER, [...NEW.split(" "), "-keyout", "key.pem", "-out", "own.pem"], { cwd: folder })
  const read = (name: string) => readFileSync(join(folder, name))
  const server = createServer({ key: read("key.pem"), cert: read("own.pem") }, (_, response) =>
    response.end('{"queue": 3}'),
  )
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () => Effect.sync(() => server.close().closeAllConnections()),
  )
  // A server of TCP has an address of this form.
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
})

const lacks = skipped || skippedFor(lacking("openssl"))

describe.skipIf(lacks !== "")(`a new watch in the console${lacks}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("says while an address is typed, and when it is tried, what is missing", () =>
      Effect.gen(function* () {
        const own = yield* startPrivatePage
        const { baseUrl, demo } = yield* startService()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/watches`)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          await signIn(page)
          const hint = page.getByText("This is the server's own machine: allow")
          const address = page.getByLabel("Address")
          for (const [typed, times] of [
            ["https://127.example.org/", 0],
            ["http://127.0.0.1:3000/", 1],
            ["http://localhost", 1],
            ["ping:127.0.0.1", 1],
            ["tcp://[::1]:25", 1],
            ["https://example.org/?of=http://localhost/", 0],
            [own, 1],
          ] as const) {
            await address.fill(typed)
            await page.getByText(times === 1 ? "own machine" : "tcp://host:port is a port").waitFor()
            assert.strictEqual(await hint.count(), times, typed)
          }
          // Once it is allowed, also by another tab.
          await demo.call("PUT", "ops/v1/settings/watch_loopback", { value: true })
          await page.reload()
          await page.getByText("tcp://host:port is a port").waitFor()
          assert.strictEqual(await address.inputValue(), own)

          await click("Try")
          const tried = page.getByRole("status")
          await tried.getByText("from here: ").waitFor()
          await tried.getByText("self-signed certificate").waitFor()
          await tried.getByText("Private?").waitFor()
          await page.getByText("More", { exact: true }).first().click()
          await page.getByLabel("The certificate").selectOption("is not checked (private, self-signed)")
          await page.getByLabel("JSON must have").fill("queue: < 5")
          await click("Try")
          await tried.locator(".is-ok").waitFor()
          assert.strictEqual(await tried.getByText("Private?").count(), 0)
        })
      }),
    )

    it.effect("of the policy says where it is changed, also while it is paused", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await fetch(`${baseUrl}/ops/v1/policy`, {
            method: "PUT",
            headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/yaml" },
            body: "watches:\n  - { name: shop, every: 1h, http: { url: https://192.0.2.1/ } }\n",
          })
          await demo.call("POST", "ops/v1/watches/shop/pause", { for: "8h" })
          const { page } = await openConsole(context, `${baseUrl}/#/watches`)
          await signIn(page)
          const row = page.locator('[data-id="shop"]')
          await row.getByText(/paused until/).waitFor()
          await row.getByRole("link", { name: "in the policy" }).waitFor({ timeout: 5_000 })
        })
      }),
    )

    it.effect("gets a further place from the page of watches alone, whose check is no other one there", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/watches`)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          await signIn(page)
          // A line for a host that is no place, which stays until its reader has it.
          await page.goto(`${baseUrl}/#/admission`)
          await click("Add a host")
          const hostLine = page.getByText("paste the line, and the token")
          await hostLine.waitFor()
          await page.goto(`${baseUrl}/#/watches`)
          await page.getByText("Add a place", { exact: true }).click()
          await page.getByRole("button", { name: "Add a host", exact: true }).waitFor()
          assert.strictEqual(await hostLine.count(), 0)
          await click("Add a host")
          const lines = page.getByText(/sh tocsin-agent\.sh --server \S+ && \(sudo sed .*allow: \[public\]/)
          await lines.waitFor()
          await page.goto(`${baseUrl}/#/admission`)
          await hostLine.waitFor()
          assert.strictEqual(await lines.count(), 0)
          await page.goto(`${baseUrl}/#/watches`)
          await page.getByText("Add a place", { exact: true }).click()
          await lines.waitFor()
          await page
            .getByText(/npm run -s agent -- start --config \S+ --state \S+$/)
            .first()
            .waitFor()

          await demo.join("berlin")
          await fetch(`${baseUrl}/ops/v1/agents/berlin/watches`, {
            headers: { authorization: "Bearer key-of-berlin-0123456789" },
          })
          await page.getByLabel("berlin").check()
          await page.getByLabel("Address").fill("tcp://127.0.0.1:9")
          await page.getByLabel("Failures in a row").fill("1")
          let answer = (): void => undefined
          const held = new Promise<void>((resolve) => (answer = resolve))
          await page.route(/\/watches\/try$/, async (route) => {
            await held
            await route.continue()
          })
          await click("Try")
          await page.getByRole("status").getByText("Trying, for up to 10 s").waitFor()
          answer()
          await page.getByRole("status").getByText("berlin: tried once it is saved.").waitFor()
          assert.strictEqual(await page.getByText(/^Trying,/).count(), 0)
          await click("Watch")
          await page.getByText("Created 127.0.0.1:9").waitFor()
          await demo.report("berlin", [
            { check_id: "watch:127.0.0.1:9", status: "critical", output: "TCP CRITICAL - refused" },
          ])
          await page.goto(`${baseUrl}/#/checks/watches/127.0.0.1:9`)
          const row = page.getByRole("region", { name: "Places" }).getByRole("link", { name: "berlin" })
          await row.waitFor()
          assert.isAbove((await row.boundingBox())?.width ?? 0, 40)
          await page.setViewportSize({ width: 390, height: 844 })
          await page.goto(`${baseUrl}/#/watches`)
          const counted = page.getByRole("region", { name: "Places" }).getByText("1 watch").first()
          await counted.waitFor()
          assert.isAbove((await counted.boundingBox())?.width ?? 0, 100)
          await page.setViewportSize({ width: 1440, height: 900 })
          await page.goto(`${baseUrl}/#/overview`)
          const checks = page.getByRole("region", { name: "Checks, the worst first" })
          await checks.getByRole("link", { name: "watches/127.0.0.1:9" }).waitFor()
          assert.strictEqual(await checks.getByRole("link", { name: "berlin/watch:127.0.0.1:9" }).count(), 0)
          const { items } = (await demo.call("GET", "ops/v1/checks?agent_id=berlin")) as {
            readonly items: ReadonlyArray<unknown>
          }
          assert.lengthOf(items, 1)
          // A text that has no room is read whole, as in other lists.
          await page.setViewportSize({ width: 1000, height: 700 })
          const said = checks.locator(".subject").first()
          await said.hover()
          assert.include(await said.getAttribute("title"), "critical")
        })
      }),
    )
  })
})

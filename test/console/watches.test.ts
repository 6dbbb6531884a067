import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startService } from "./Site.ts"

/** The texts of which a part is cut off. */
const CUT = `Array.from(document.querySelectorAll(".named > :is(b, a.main, .subject)"))
  .filter(({ clientWidth, scrollWidth, clientHeight, scrollHeight }) =>
    scrollWidth > clientWidth || scrollHeight > clientHeight + 2)
  .map(({ textContent }) => textContent)`

const GONE = {
  error: { code: "not_found", message: "no such integration: look at the list", request_id: "r" },
}

describe.skipIf(chromium === undefined)(`watches and integrations in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("a watch is tried, created under a name, and changed; its result is read on a phone", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/watches`)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          await signIn(page)
          await page.getByLabel("Address").fill("tcp://127.0.0.1:9")
          await click("Try")
          await page.getByRole("status").locator(".is-critical").getByText("critical").waitFor()
          await click("Watch")
          await page.getByText("Created 127.0.0.1:9").waitFor()
          assert.strictEqual(await page.getByRole("status").count(), 0)
          await page.getByLabel("Address").fill("tcp://127.0.0.1:9")
          await click("Watch")
          await page.getByRole("alert").waitFor()
          await page.getByLabel("Title").fill("Discard")
          await page.getByText("ID: discard").waitFor()
          await click("Watch")
          const row = page.locator('[data-id="discard"]')
          await row.getByText(/ECONNREFUSED/).waitFor()
          await page.setViewportSize({ width: 390, height: 844 })
          assert.deepStrictEqual(await page.evaluate(CUT), [])

          await row.getByRole("button", { name: "Change" }).click()
          assert.strictEqual(await page.getByLabel("Address").inputValue(), "tcp://127.0.0.1:9")
          await page.getByLabel("Every").selectOption("5m")
          await page.getByLabel("Failures in a row").fill("3")
          await click("Save")
          await page.getByText("Changed discard").waitFor()
          await row.getByText("every 5m").waitFor()
          await row.getByRole("button", { name: "Change" }).click()
          assert.strictEqual(await page.getByLabel("Failures in a row").inputValue(), "3")

          const http = { url: "http://127.0.0.1:9/", text: "fine", headers: { authorization: "Bearer 1" } }
          // Its first probe comes within its period, and the second a period later. No topic names a result that is
          // withheld until it is confirmed.
          await demo.call("POST", "ops/v1/watches", { name: "page", every: "30s", http })
          const isUnconfirmed = async () =>
            JSON.stringify(await demo.call("GET", "ops/v1/watches/page")).includes('"unconfirmed":1')
          while (!(await isUnconfirmed())) await page.waitForTimeout(200)
          await page.reload()
          const pageRow = page.locator('[data-id="page"]')
          await pageRow.getByText("1 of 2 failures").waitFor()
          const change = () => pageRow.getByRole("button", { name: "Change" }).click()
          const stored = async () => {
            const { http } = (await demo.call("GET", "ops/v1/watches/page")) as { readonly http: unknown }
            return http
          }
          await change()
          await page.getByLabel("Address").fill("http://127.0.0.1:9/status")
          await click("Save")
          await page.getByText("Changed page").waitFor()
          assert.deepStrictEqual(await stored(), { url: "http://127.0.0.1:9/status", text: "fine" })
          await change()
          // More is open where something within is set.
          assert.strictEqual(await page.getByLabel("The page must contain").inputValue(), "fine")
          await page.getByLabel("The page must contain").fill("")
          await page.getByLabel("Statuses that are ok").fill("200, 401")
          await page.getByLabel("Certificate: warning days").fill("21")
          await page.getByLabel("Labels").fill("team=shop, production")
          await click("Save")
          await page.getByRole("alert").getByText("production lacks a value").waitFor()
          await page.getByLabel("Labels").fill("team=shop, env=production")
          await page.getByLabel("Header fields").fill("authorization Bearer 1")
          await click("Save")
          await page.getByRole("alert").getByText("Write one in each line").waitFor()
          await page.getByLabel("Header fields").fill("authorization: Bearer 1\naccept: text/plain")
          await click("Save")
          await page.getByRole("button", { name: "Save" }).waitFor({ state: "detached" })
          assert.deepInclude(await demo.call("GET", "ops/v1/watches/page"), {
            labels: { team: "shop", env: "production" },
          })
          const status = { status: [200, 401], days: { warning: 21 } }
          assert.deepStrictEqual(await stored(), { url: "http://127.0.0.1:9/status", ...status })

          await change()
          await page.getByLabel("JSON must have").fill("/status: ok\n/queue: < 100\n/is_up: true")
          await page.getByLabel("Critical after").fill("3s")
          await click("Save")
          await page.getByRole("button", { name: "Save" }).waitFor({ state: "detached" })
          const json = { "/status": "ok", "/queue": "< 100", "/is_up": true }
          assert.deepInclude(await stored(), {
            expect: { status: [200, 401], json },
            time: { critical: "3s" },
          })

          // Beside the results of its check.
          await row.getByRole("link", { name: "Discard" }).click()
          await page.getByRole("heading", { name: "Discard", exact: true }).waitFor()
          await page.getByText("watches/discard", { exact: true }).first().waitFor()
          await page.getByTitle("Change the watch discard").click()
          await page.getByLabel("Every").selectOption("1h")
          await click("Save")
          await page.getByText("Changed discard").waitFor()
          assert.match(await page.title(), /Discard · Tocsin$/)
          await click("Pause 8 h")
          await page.getByText("Paused discard for 8 h").waitFor()
          await page.getByText(/, paused until /).waitFor()
          await click("Resume")
          await page.getByText("Resumed discard").waitFor()
          const changed = (await demo.call("GET", "ops/v1/watches/discard")) as { readonly every: unknown }
          assert.strictEqual(changed.every, "1h")
        })
      }),
    )

    it.effect("a watch of several places names each, is copied, and is titled on its page", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const tcp = { host: "127.0.0.1", port: 9 }
          const from = ["here", "berlin"]
          await demo.call("POST", "ops/v1/watches", {
            name: "discard",
            tcp,
            every: "10s",
            from,
            fails: "any",
          })
          const { page } = await openConsole(context, `${baseUrl}/#/watches`)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          await signIn(page)
          const places = page.getByRole("region", { name: "Places" })
          await places.getByText("here", { exact: true }).waitFor()
          await places.getByRole("link", { name: "berlin" }).waitFor()
          await places.getByText("never asked: it is no place").waitFor()
          const said = /berlin is no place|1 of 2 places not counting/
          await page.locator('[data-id="discard"]').getByText(said).waitFor()
          // It says what to do, without a click.
          await places.getByText("sudo sed -i.old -e '$a place: { allow: [public] }'").waitFor()
          await page
            .getByLabel("It may probe")
            .selectOption({ label: "the internet, private networks and the host itself" })
          await places
            .getByText(/allow: \[public, 10\.0\.0\.0\/8, .*127\.0\.0\.0\/8, ::1\]/)
            .first()
            .waitFor()
          // Its first question is seen without a look at the page again.
          await demo.join("berlin")
          const key = "key-of-berlin-0123456789"
          const asked = await fetch(`${baseUrl}/ops/v1/agents/berlin/watches`, {
            headers: { authorization: `Bearer ${key}` },
          })
          assert.strictEqual(asked.status, 200)
          await places.getByText("asks every 30 s").waitFor()

          await page.locator('[data-id="discard"]').getByRole("button", { name: "Copy" }).click()
          assert.strictEqual(await page.getByLabel("Address").inputValue(), "tcp://127.0.0.1:9")
          assert.strictEqual(await page.getByLabel("Title").inputValue(), "Copy of discard")
          const fails = page.getByLabel("Fails by")
          assert.strictEqual(await fails.inputValue(), "any")
          await page.getByLabel("Title").fill("Discard twice")
          await fails.selectOption("2")
          await click("Watch")
          await page.getByText("Created discard-twice").waitFor()
          const made = (await demo.call("GET", "ops/v1/watches/discard-twice")) as object
          assert.deepInclude(made, { title: "Discard twice", every: "10s", from, fails: 2 })

          // The service alone. What was typed for another one stays.
          const title = page.getByLabel("Title")
          await title.fill("Not yet")
          const row = page.locator('[data-id="discard-twice"]')
          await row.getByRole("button", { name: "Change" }).click()
          const form = page.getByRole("dialog")
          await form.getByLabel("berlin").uncheck()
          await form.getByLabel("Title").fill("discard")
          await form.getByLabel("Failures in a row").fill("4")
          // The changes of somebody else stay, but for those of the same setting.
          const other = { every: "30s", confirm: { bad: 3, good: 2 } }
          await demo.call("PATCH", "ops/v1/watches/discard-twice", other)
          await click("Save")
          await form.getByText(/^Somebody changed this meanwhile: Failures in a row is 3\./).waitFor()
          await click("Save")
          await page.getByText("Changed discard", { exact: true }).waitFor()
          const changed = (await demo.call("GET", "ops/v1/watches/discard-twice")) as object
          assert.deepInclude(changed, { title: "discard", every: "30s", from: ["here"], fails: "majority" })
          assert.deepInclude(changed, { confirm: { bad: 4, good: 2 } })
          assert.strictEqual(await title.inputValue(), "Not yet")

          await page.goto(`${baseUrl}/#/checks/watches/discard`)
          await places.getByRole("listitem").filter({ hasText: "berlin" }).getByText("not heard").waitFor()
          await places.getByText("does not count now").first().waitFor()
          await page.getByRole("heading", { name: "Newest output" }).waitFor({ timeout: 60_000 })
          await click("Edit title")
          await form.getByLabel("Title").fill("Old discard port")
          await click("Save")
          await page.getByRole("heading", { name: "Old discard port" }).waitFor()
          assert.match(await page.title(), /Old discard port/)
          await page.goto(`${baseUrl}/#/incidents`)
          await page.getByRole("link", { name: "Old discard port", exact: true }).waitFor()

          // On the way to other pages, too; what may be a secret does not wait.
          await page.goto(`${baseUrl}/#/watches`)
          await title.waitFor()
          assert.strictEqual(await title.inputValue(), "Not yet")
          await page.getByText("More", { exact: true }).click()
          const headers = page.getByLabel("Header fields")
          await headers.fill("authorization: Bearer 1")
          await page.goto(`${baseUrl}/#/integrations`)
          await title.first().waitFor()
          await page.goto(`${baseUrl}/#/watches`)
          await page.getByLabel("Address").waitFor()
          assert.strictEqual(await title.inputValue(), "Not yet")
          assert.strictEqual(await headers.inputValue(), "")

          // Also after the page was loaded again, and after Escape. Cancel gives it up.
          await page.getByText("More", { exact: true }).click()
          await headers.fill("authorization: Bearer 1")
          await page.reload()
          await page.getByLabel("Address").waitFor()
          assert.strictEqual(await title.inputValue(), "Not yet")
          assert.strictEqual(await headers.inputValue(), "")
          await page.getByText("What you typed is still here.").waitFor()
          await click("Discard")
          await page.getByText("still here").waitFor({ state: "detached" })
          assert.strictEqual(await title.inputValue(), "")
          const changes = () => row.getByRole("button", { name: "Change" }).click()
          await changes()
          await form.getByLabel("Title").fill("Half a title")
          await page.keyboard.press("Escape")
          await form.waitFor({ state: "detached" })
          await changes()
          await form.getByText("What you typed is still here.").waitFor()
          assert.strictEqual(await form.getByLabel("Title").inputValue(), "Half a title")
          // It replaces no change that was made since.
          await page.keyboard.press("Escape")
          await demo.call("PATCH", "ops/v1/watches/discard-twice", { title: "Other" })
          await row.getByText("Other").waitFor()
          await changes()
          await form.getByText(/^Somebody changed this meanwhile: Title is Other\. .*: save it to/).waitFor()
          assert.strictEqual(await form.getByLabel("Title").inputValue(), "Half a title")
          await click("Cancel")
          await changes()
          assert.strictEqual(await form.getByLabel("Title").inputValue(), "Other")
          assert.strictEqual(await form.getByText("still here").count(), 0)
        })
      }),
    )

    it.effect(
      "an integration is changed by its options, its check is resolved, and that of the watches is not listed",
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.call("POST", "ops/v1/watches", {
              name: "discard",
              tcp: { host: "127.0.0.1", port: 9 },
            })
            // The answer of the API.
            const made = (await demo.call("POST", "ops/v1/integrations", {
              name: "full",
              kind: "ping",
              options: { max_checks: 1 },
            })) as { readonly key: string }
            await fetch(`${baseUrl}/in/ping/${made.key}/only/fail`)
            const options = { watchdog: "Watchdog" }
            await demo.call("POST", "ops/v1/integrations", { name: "waiting", kind: "alertmanager", options })
            const { page } = await openConsole(context, `${baseUrl}/#/integrations`)
            const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
            await signIn(page)
            await page.locator('[data-id="full"]').getByText("1 of 1 checks").waitFor()
            assert.strictEqual(await page.locator('[data-id="watches"]').count(), 0)
            await page.locator('[data-id="waiting"]').getByText("waits for the first Watchdog").waitFor()
            await page.getByLabel("Title").first().fill("Nightly")
            await click("Add a job")
            await page.getByText("?every=1d&after=26h").waitFor()
            await page.getByLabel("Title").last().fill("backup")
            await click("Create integration")
            await page.getByText("Lines to paste for backup").waitFor()
            await page.locator('[data-id="nightly"]').getByRole("button", { name: "New key" }).click()
            await page.getByText("Lines to paste for nightly").waitFor()
            // As for a new job: the line reports how its command ended, and when it is late.
            await page
              .getByText(/\/in\/ping\/in_[\w-]+\/\$\?\?every=1d&after=26h"$/)
              .nth(1)
              .waitFor()
            await page.locator('[data-id="backup"]').getByRole("button", { name: "Change" }).click()
            const field = page.getByLabel("Options (JSON)")
            await field.fill('{"check": 1}')
            await click("Save")
            await page.getByRole("alert").waitFor()
            await field.fill('{"max_checks": 3}')
            await click("Save")
            await page.getByText("Changed backup").waitFor()
            // One that somebody removes meanwhile is refused, and nothing typed is lost.
            await page.locator('[data-id="full"]').getByRole("button", { name: "Change" }).click()
            const title = page.getByRole("dialog").getByLabel("Title")
            await title.fill("Full of checks")
            await page.route("**/ops/v1/integrations/full", (route) =>
              route.fulfill({ status: 404, json: GONE }),
            )
            await click("Save")
            await page.getByRole("alert").getByText("no such integration").waitFor()
            assert.strictEqual(await title.inputValue(), "Full of checks")
            await click("Cancel")
            const { options: stored } = (await demo.call("GET", "ops/v1/integrations/backup")) as {
              readonly options: unknown
            }
            assert.deepStrictEqual(stored, { max_checks: 3 })
            await page.goto(`${baseUrl}/#/agents`)
            const states = { full: "reports", waiting: "no report", watches: "reports" }
            for (const [name, state] of Object.entries(states))
              await page.locator(`[data-id="${name}"]`).getByText(state, { exact: true }).waitFor()
            await page.goto(`${baseUrl}/#/checks/full/only`)
            await click("Resolve")
            await page.getByText("Resolved full/only").waitFor()
            await page.getByRole("button", { name: "Resolve" }).waitFor({ state: "detached" })
          })
        }),
    )
  })
})

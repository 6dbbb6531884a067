import { execFileSync } from "node:child_process"
import { assert, describe, layer } from "@effect/vitest"
import { examinedSettings } from "@tocsin/server/settings/checkedSettings"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startMonitor, startService } from "./Site.ts"

/** Chooses each type of receiver in turn. */
const eachType = async (page: Page, then: () => Promise<void>): Promise<void> => {
  const types = page.getByLabel("Type", { exact: true })
  for (const type of await types.getByRole("option").allTextContents()) {
    await types.selectOption(type)
    await then()
  }
}

describe.skipIf(chromium === undefined)(`the first page of a fresh server${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect(
      "adds a watch, a host, a job and Prometheus, and tests a receiver, with each result in sight",
      () =>
        Effect.gen(function* () {
          const { baseUrl } = yield* startService({ SERVICE_WATCH_LOOPBACK: "true" })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            const { page } = await openConsole(context, baseUrl)
            const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
            const open = (name: string) => page.getByRole("heading", { name, exact: true }).click()
            await signIn(page)
            await page.getByRole("heading", { name: "What should Tocsin watch?" }).waitFor()
            await page.getByLabel("Address").fill(`${baseUrl}/api/v1/health`)
            await click("Watch")
            const watches = page.getByRole("list", { name: "Watches" })
            await watches.getByText("ok", { exact: true }).waitFor()

            await open("A host")
            await click("Add a host")
            await page.locator("pre", { hasText: "npm run -s agent -- start --server" }).waitFor()
            const agent = await page.getByRole("link", { name: "the agent" }).getAttribute("href")
            const shown = await fetch(agent ?? "")
            assert.strictEqual(shown.headers.get("content-type"), "text/plain; charset=utf-8")
            assert.match(await shown.text(), /^# /)
            await click("Done")

            await open("A cron job")
            await page.getByLabel("Job").fill("Not A Name")
            await click("Add a job")
            await page.getByRole("alert").waitFor()
            await page.getByLabel("Job").fill("backup")
            await click("Add a job")
            const line = (await page.locator("code", { hasText: "; curl" }).textContent()) ?? ""
            execFileSync("sh", ["-c", `true ${line}`])
            await page
              .getByRole("list", { name: "Integrations" })
              .getByText(/^reported/)
              .waitFor()
            execFileSync("sh", ["-c", `(exit 3) ${line}`])
            await page.getByRole("heading", { name: "Incidents" }).waitFor()
            await page
              .getByRole("list", { name: "Incidents" })
              .getByRole("link", { name: "exit status 3" })
              .waitFor()

            await page.goto(`${baseUrl}/#/start`)
            await open("What Prometheus alerts on")
            const prometheus = page.locator("details", { hasText: "What Prometheus alerts on" })
            await prometheus.getByLabel("Name").fill("backup")
            await click("Make its lines")
            await page.getByRole("alert").getByText("choose another name").waitFor()
            await prometheus.getByLabel("Name").fill("prometheus")
            await click("Make its lines")
            await page.locator("pre", { hasText: "path_prefix: /in/alertmanager" }).waitFor()
            await page.locator("pre", { hasText: "alert: Watchdog" }).waitFor()
            await page.getByText("Add one", { exact: true }).click()
            await eachType(page, async () => {
              const pasted = (await page.locator(".command", { hasText: "SERVICE_" }).textContent()) ?? ""
              const lines = Array.from(pasted.matchAll(/^\s*(SERVICE_\w+)=(\S+)/gm), ([, name, value]) => [
                name,
                value,
              ])
              assert.isNotEmpty(lines)
              const settings = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, ...Object.fromEntries(lines) }
              assert.deepStrictEqual(examinedSettings(settings).problems, [], pasted)
            })
            await page
              .getByRole("list", { name: "Notifiers" })
              .getByTitle("Send a test message to debug")
              .click()
            await page.getByText("the test was delivered").waitFor()

            await page.goto(`${baseUrl}/#/checks/backup/backup`)
            await page.getByText(/it must report again .*/).waitFor()
            assert.isTrue(line.includes("every=1d&after=26h"))
          })
        }),
    )

    it.effect("says how to add a receiver to a policy, and that a host has arrived", () =>
      Effect.gen(function* () {
        const { baseUrl, monitor } = yield* startMonitor({
          policy: { receivers: { pager: { kind: "debug" } } },
        })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/start`)
          await signIn(page)
          await page.getByText("Add one", { exact: true }).click()
          await page.locator("pre", { hasText: "tocsin policy apply policy.yaml" }).waitFor()
          await eachType(page, async () => {
            const line = (await page.locator("code", { hasText: "TOCSIN_SECRET_" }).textContent()) ?? ""
            const checked = await fetch(`${baseUrl}/ops/v1/policy/check`, {
              method: "POST",
              headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
              body: `receivers:\n  ${line}\n`,
            })
            assert.strictEqual(checked.status, 200, `${line}: ${await checked.text()}`)
          })
          assert.strictEqual(await page.getByText("Start the server again").count(), 0)

          await page.getByRole("heading", { name: "A host", exact: true }).click()
          await page.getByText("Waiting for the first heartbeat").waitFor()
          await monitor.heartbeat("key", {
            agent_id: "web-1",
            observed_at: new Date(0).toISOString(),
            hostname: "web-1.example",
            features: { push: true, metrics: false },
            labels: { service_agent_version: "1" },
          })
          const { token } = await monitor.enrolments.create({})
          await monitor.enrol("key", "web-1", { token })
          await page.getByText("1 host reported").waitFor()
        })
      }),
    )
  })
})

import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import manifest from "../../packages/agent/package.json" with { type: "json" }
import { Effect } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startMonitor, startService } from "./Site.ts"

/** The heartbeat of an agent of a version. */
const heartbeatOf = (baseUrl: string, agent_id: string, version: string) =>
  fetch(`${baseUrl}/api/v1/heartbeat`, {
    method: "POST",
    headers: { authorization: `Bearer key-of-the-agent-${agent_id}` },
    body: JSON.stringify({
      agent_id,
      observed_at: new Date(performance.timeOrigin + performance.now()).toISOString(),
      hostname: `${agent_id}.example`,
      features: { push: true, metrics: false },
      labels: { service_agent_version: version },
    }),
  })

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
            const choose = (way: string) => page.getByRole("link", { name: way, exact: true }).click()
            await signIn(page)
            const step = (title: string) => page.getByRole("listitem").filter({ hasText: title })
            await page.getByRole("heading", { name: "Start" }).waitFor()
            assert.strictEqual(await page.getByText("done", { exact: true }).count(), 0)
            await page.getByLabel("Address").fill(`${baseUrl}/api/v1/health`)
            await page.keyboard.press("Enter")
            const watches = page.getByRole("list", { name: "Watches" })
            await watches.getByText("ok", { exact: true }).waitFor()
            await step("Watch something").getByText("done", { exact: true }).waitFor()

            await choose("A host")
            await click("Add a host")
            // As a reader selects it: sha256sum needs both spaces.
            const pasted = await page.locator("code", { hasText: "sha256sum" }).innerText()
            const [get = "", install] = pasted.split(" && sudo ")
            assert.strictEqual(install, `sh tocsin-agent.sh --server ${baseUrl}`)
            const folder = mkdtempSync(join(tmpdir(), "tocsin-lines-"))
            const checked = execFileSync("sh", ["-c", get], { cwd: folder, encoding: "utf8" })
            assert.strictEqual(checked, "tocsin-agent.sh: OK\n")
            assert.include(readFileSync(join(folder, "tocsin-agent.sh"), "utf8"), "  tocsin-agent.tgz\n")
            rmSync(folder, { recursive: true })
            await page.locator("code", { hasText: /^enrol_/ }).waitFor()
            // An agent that is a place from its first start on.
            await page.getByLabel("For watches, it probes").selectOption("the internet")
            await click("Add a host")
            await page
              .getByText(/sh tocsin-agent\.sh --server \S+ && \(sudo sed .*allow: \[public\]/)
              .waitFor()
            await page
              .getByText(
                /echo 'server: \S+\s+place: \{ allow: \[public\] \}\s+[^']+' > data\/agent\/config\.yaml/,
              )
              .waitFor()
            // The token outlives a look at another way.
            await choose("A cron job")
            await page.locator("code", { hasText: "sha256sum" }).waitFor({ state: "detached" })
            await choose("A host")
            await page.locator("code", { hasText: /^enrol_/ }).waitFor()
            const agent = await page.getByRole("link", { name: "the agent" }).getAttribute("href")
            const shown = await fetch(agent ?? "")
            assert.strictEqual(shown.headers.get("content-type"), "text/plain; charset=utf-8")
            assert.match(await shown.text(), /^# /)
            await click("Done")
            await heartbeatOf(baseUrl, "old", "0.0.1")
            await heartbeatOf(baseUrl, "new", manifest.version)

            await choose("A cron job")
            await page.getByLabel("Title").fill("Backup")
            await page.getByText("ID: backup").waitFor()
            await page.getByLabel("Runs").selectOption("at the times of its line in the crontab")
            await page.getByRole("textbox", { name: "Times" }).fill("0 3 * *")
            await page.getByText("The times must have five fields").waitFor()
            await page.getByRole("textbox", { name: "Times" }).fill("0 3 * * 1-5")
            await page.getByText("Choose the time zone of the machine that runs it").waitFor()
            await page.getByLabel("Time zone").selectOption("Europe/Berlin")
            await page
              .getByText(/^Next: .*03:00.*; .*03:00.*; .*03:00.*\. Late an hour after each\.$/)
              .waitFor()
            await page.getByLabel("Grace").fill("half an hour")
            await click("Add a job")
            await page.getByRole("alert").getByText("Grace must be a duration such as 30m").waitFor()
            await page.getByLabel("Grace").fill("30m")
            await page.getByText(/ Late 30m after each\.$/).waitFor()
            await click("Add a job")
            const line = (await page.locator("code", { hasText: "; curl" }).textContent()) ?? ""
            assert.include(line, "&tz=Europe/Berlin&grace=30m")
            execFileSync("sh", ["-c", `true ${line}`])
            await page
              .getByRole("list", { name: "Integrations" })
              .getByText(/^reported/)
              .waitFor()
            execFileSync("sh", ["-c", `(exit 3) ${line}`])
            await choose("What Prometheus alerts on")
            await page.getByLabel("Name").fill("backup")
            await click("Make its lines")
            await page.getByRole("alert").getByText("choose another name").waitFor()
            await page.getByLabel("Name").fill("prometheus")
            await click("Make its lines")
            await page.locator("pre", { hasText: "path_prefix: /in/alertmanager" }).waitFor()
            await page.locator("pre", { hasText: "alert: Watchdog" }).waitFor()
            await open("Choose where alerts go")
            await page.locator("pre", { hasText: "alert: Watchdog" }).waitFor({ state: "hidden" })
            await page.getByRole("combobox", { name: "Type" }).selectOption("The server's log")
            await click("Save")
            await page.getByText("Saved log", { exact: true }).waitFor()
            await page
              .getByRole("list", { name: "Receivers" })
              .getByTitle("Send a test message to log")
              .click()
            await page.getByText("log: the test was delivered").waitFor()

            await page.getByRole("link", { name: "Overview", exact: true }).click()
            await page
              .getByRole("region", { name: "Open incidents" })
              .getByRole("link", { name: "Backup" })
              .waitFor()
            await page
              .getByRole("region", { name: "Checks, the worst first" })
              .getByRole("img", { name: /100 % ok: .*ok / })
              .waitFor()

            await page.goto(`${baseUrl}/#/checks/backup/backup`)
            await page.getByText(/it must report again .*/).waitFor()
            assert.isTrue(line.includes("cron=0+3+*+*+1-5&tz=Europe/Berlin"))
            // All of a young check, and not a sliver at the end of a day.
            await page
              .getByRole("link", { name: "1 hour", exact: true })
              .and(page.locator("[aria-current]"))
              .waitFor()
            await page.emulateMedia({ media: "print" })
            assert.notMatch(await page.locator("main").innerText(), /\d[smh] ago/)
            await page.emulateMedia({ media: "screen" })
            await page.goto(`${baseUrl}/#/audit`)
            const acts = page.getByRole("list", { name: "Changes" })
            await acts.getByText("changed receiver log").waitFor()
            assert.strictEqual(await acts.getByText(/policy|secret/).count(), 0)

            await page.goto(`${baseUrl}/#/agents`)
            const mark = page.getByText(`older than the server, ${manifest.version}`)
            await page.getByRole("listitem").filter({ hasText: "old" }).filter({ has: mark }).waitFor()
            await page.getByRole("listitem").filter({ hasText: "new.example" }).waitFor()
            assert.strictEqual(await mark.count(), 1)
            await page.goto(`${baseUrl}/#/agents/old`)
            await page.getByRole("heading", { name: "Open incidents" }).waitFor()
            await mark.waitFor()
          })
        }),
    )

    it.effect("shows at a glance what is open, who is on call, what is late, and what changed", () =>
      Effect.gen(function* () {
        const { baseUrl, demo, monitor } = yield* startMonitor({
          policy: {
            receivers: { ann: { kind: "debug" }, bob: { kind: "debug" } },
            rotas: { primary: { order: ["ann"], every: "7d", from: "2026-01-05T09:00" } },
            routes: [{ to: ["primary"] }],
          },
        })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          const job = { name: "backup", kind: "ping", options: { check: "backup" } }
          const { urls } = (await demo.call("POST", "ops/v1/integrations", job)) as {
            readonly urls: readonly [string]
          }
          await fetch(`${baseUrl}${urls[0]}/0?every=1m&after=3m`)
          await demo.report("web-1", [
            { check_id: "load", status: "warning", output: "LOAD HIGH" },
            { check_id: "disk", status: "critical", output: "DISK FULL" },
          ])
          await demo.heartbeat("web-2")
          await monitor.advance("5m")
          const { page, faults } = await openConsole(context, baseUrl)
          await signIn(page)
          const part = (name: string) => page.getByRole("region", { name })
          const open = part("Open incidents")
          await open.getByText(/notified ann \(log only\)\s+DISK FULL/).waitFor()
          assert.deepStrictEqual((await open.getByRole("link").allTextContents()).slice(0, 3), [
            "Open incidents",
            "web-1",
            "backup/backup",
          ])
          await part("Checks, the worst first").getByRole("link", { name: "web-1/load" }).waitFor()
          await part("Who is on call").getByText("ann").waitFor()
          await part("Late jobs and checks").getByText("due").waitFor()
          await part("Health").getByText("1 key to accept or block").waitFor()
          await part("Last changes").getByText("accepted agent web-1").waitFor()
          assert.isTrue(await page.evaluate<boolean>("document.documentElement.scrollHeight <= innerHeight"))

          for (const key of ["j", "j", "j", "Enter"]) await page.keyboard.press(key)
          await page.getByRole("heading", { name: "web-1/disk" }).waitFor()
          await page.keyboard.press("Escape")
          await page.getByRole("heading", { name: "Overview" }).waitFor()
          await demo.report("web-1", [{ check_id: "disk", status: "ok", output: "DISK OK" }])
          await open.getByRole("link", { name: "web-1/disk" }).waitFor({ state: "detached" })
          await part("Last changes").getByRole("link", { name: "web-1/disk" }).waitFor()
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect(
      "writes the lines of a receiver where a program decides, and says that a host has arrived",
      () =>
        Effect.gen(function* () {
          const { baseUrl, monitor } = yield* startMonitor({
            policy: { receivers: { pager: { kind: "debug" } } },
          })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            const { page } = await openConsole(context, `${baseUrl}/#/start`)
            await signIn(page)
            await page.getByRole("heading", { name: "Choose where alerts go" }).click()
            await page.getByText("Receivers are not changed here: the program").waitFor()
            await page.getByRole("textbox", { name: "From", exact: true }).fill("Tocsin <tocsin@example.org>")
            await page.getByRole("textbox", { name: "To", exact: true }).fill("a@example.org, b@example.org")
            const step = page.locator("details", { hasText: "Choose where alerts go" })
            assert.strictEqual(await step.locator("input[type=password]").count(), 0)
            await page.getByRole("button", { name: "Write its lines" }).click()
            const lines = (await page.locator("pre", { hasText: "receivers:" }).textContent()) ?? ""
            const checked = await fetch(`${baseUrl}/ops/v1/policy/check`, {
              method: "POST",
              headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
              body: lines,
            })
            assert.include(await checked.text(), '"issues":[]', lines)

            await page.getByRole("heading", { name: "Watch something" }).click()
            await page.getByRole("link", { name: "A host", exact: true }).click()
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

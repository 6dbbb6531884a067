import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { pages } from "../../packages/console/src/state/navigation.ts"
import { AT_LENGTH } from "../properties/atLength.ts"
import { Browser, chromium, openConsole, openContext, signIn, skippedAtLength } from "./Console.ts"
import { startMonitor } from "./Site.ts"

const nightly = {
  name: "nightly",
  cron: "0 2 * * *",
  tz: "UTC",
  for: "1h",
  match: ["check_id = disk"],
}

/** Rows about a late or a withdrawn check that show something as ok, on any page. */
const WRONG = `Array.from(document.querySelectorAll("main a"))
  .filter(({ href }) => /#.checks.web-1.(backup|gone)/.test(href))
  .map((link) => link.closest("li, tr, article") ?? link)
  .filter((row) => row.matches(".is-ok") || row.querySelector(".is-ok") !== null).map((row) => row.textContent)`

describe.skipIf(chromium === undefined || !AT_LENGTH)(
  `silent agents and late checks${skippedAtLength}`,
  () => {
    layer(Browser.layer, { excludeTestServices: true })((it) => {
      it.effect("an agent that is silent again and again: its incident is about it, and about no check", () =>
        Effect.gen(function* () {
          const { baseUrl, demo, monitor } = yield* startMonitor()
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("web-1")
            await monitor.advance("6m")
            await demo.heartbeat("web-1")
            await monitor.advance("6m")
            const { page } = await openConsole(context, `${baseUrl}/#/incidents`)
            const refused: Array<string> = []
            page.on("response", (response) => {
              if (response.status() >= 400) refused.push(response.url())
            })
            await signIn(page)
            await page.getByRole("link", { name: "no contact with web-1" }).click()
            await page.getByText("Open because web-1 is silent.").waitFor()
            await page.getByText("It opened 2 times within an hour.").waitFor()
            await page.getByRole("list", { name: "Timeline" }).getByText("web-1 is critical").waitFor()
            await demo.heartbeat("web-1")
            await page.getByText(/^Resolved: ok again after/).waitFor()
            const member = page.getByRole("list", { name: "Members" }).getByRole("link")
            assert.strictEqual(await member.textContent(), "web-1")
            await member.click()
            await page.getByText("last seen").waitFor()
            assert.strictEqual(page.url(), `${baseUrl}/#/agents/web-1`)
            assert.deepStrictEqual(refused, [])
          })
        }),
      )

      it.effect("checks of a dead agent are marked as last heard", () =>
        Effect.gen(function* () {
          const { baseUrl, demo, monitor } = yield* startMonitor()
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("web-1")
            await demo.report("web-1", [
              { check_id: "disk", status: "ok", output: "fine" },
              { check_id: "load", status: "warning", output: "high" },
            ])
            const { page } = await openConsole(context, `${baseUrl}/#/checks?filter=web-1`)
            await signIn(page)
            const row = page
              .getByRole("list", { name: "Checks" })
              .getByRole("listitem")
              .filter({ hasText: "disk" })
            await row.locator(".is-ok").waitFor()
            await page.getByText("Last result").waitFor()
            await monitor.advance("6m")
            await page.reload()
            await row.getByText("agent dead").waitFor()
            await row.locator(".is-ok").waitFor({ state: "detached" })
            await page.getByText("1 agent stale or dead").waitFor()
            await page.getByRole("link", { name: "Grid" }).click()
            await page.getByRole("link", { name: "dead 1 ok" }).waitFor()
            await page.goto(`${baseUrl}/#/checks/web-1/disk`)
            await page.getByRole("heading", { name: "web-1/disk" }).waitFor()
            await page.getByText(/ok as last heard 6m ago.*, its agent is dead/).waitFor()
            await page.getByRole("heading", { name: "Why it was last ok" }).waitFor()
            assert.strictEqual(await page.title(), "(2) web-1/disk · Tocsin")
            await demo.heartbeat("web-1")
            await page.reload()
            await page.getByText("ok last result 6m ago").waitFor()
          })
        }),
      )

      it.effect("an integration counts as no agent, and shows its last report and what is late", () =>
        Effect.gen(function* () {
          const { baseUrl, demo, monitor } = yield* startMonitor()
          const context = yield* openContext
          yield* Effect.promise(async () => {
            // The answer of the API.
            const { key } = (await demo.call("POST", "ops/v1/integrations", {
              name: "cron",
              kind: "ping",
            })) as {
              readonly key: string
            }
            const { page } = await openConsole(context, `${baseUrl}/#/start`)
            await signIn(page)
            await page.getByText("0 open · 0 alive").waitFor()
            await page.goto(`${baseUrl}/#/agents`)
            const row = page
              .getByRole("list", { name: "Agents" })
              .getByRole("listitem")
              .filter({ hasText: "cron" })
            await row.getByText("no report").waitFor()
            await page.getByText("0 alive, 0 stale or dead, besides 1 of integrations and watches").waitFor()
            await demo.join("web-1")
            await fetch(`${baseUrl}/in/ping/${key}/backup?every=1m`)
            await page.getByText("1 alive, 0 stale or dead, besides 1").waitFor()
            await row.getByText("reports").waitFor()
            await row.getByRole("link", { name: "cron" }).click()
            await page.getByText(/reports last report/).waitFor()
            await monitor.advance("9m")
            await page.goto(`${baseUrl}/#/agents/cron`)
            await page.getByText(/1 late last report 9m ago/).waitFor()
            assert.strictEqual(await page.getByText("alive", { exact: true }).count(), 0)
            await page.goto(`${baseUrl}/#/integrations`)
            await page.getByRole("link", { name: "1 late" }).click()
            await page
              .getByRole("list", { name: "Checks" })
              .getByRole("link", { name: "cron/backup" })
              .waitFor()
            await page.goto(`${baseUrl}/#/system`)
            await page.getByText("0 alive, 1 stale or dead, besides 1").waitFor()
          })
        }),
      )

      it.effect("the last agent, deleted: what it had resolved is found beside the first run", () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* startMonitor()
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("web-1")
            await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "disk is full" }])
            await demo.call("DELETE", "api/v1/agents/web-1")
            const { page } = await openConsole(context, `${baseUrl}/`)
            await signIn(page)
            await page.getByRole("heading", { name: "Watch something" }).waitFor()
            await page.goto(`${baseUrl}/#/incidents`)
            await page.getByRole("link", { name: "Resolved" }).click()
            const incident = page.getByRole("link", { name: "disk is full" })
            await incident.waitFor()
            // No page has it as a recovery.
            await page
              .locator("em")
              .getByText(/^agent deleted by/)
              .waitFor()
            await incident.click()
            await page.getByText(/^Resolved: agent deleted by/).waitFor()
            await page
              .getByRole("list", { name: "Timeline" })
              .getByText(/^resolved: agent deleted by/)
              .waitFor()
            await page.goto(`${baseUrl}/#/incidents?tab=resolved`)
            const search = page.getByLabel("Search")
            await search.fill("nothing")
            await page.getByText("No incident matches").waitFor()
            await search.fill("disk")
            await incident.waitFor()
          })
        }),
      )

      it.effect(
        "a late check that never reported: its incident leads to a page that says so, both with its labels",
        () =>
          Effect.gen(function* () {
            const { baseUrl, demo, monitor } = yield* startMonitor()
            const context = yield* openContext
            yield* Effect.promise(async () => {
              await demo.join("web-1")
              await demo.declare("web-1", [
                { check_id: "backup", every: "1m", severity: "warning", labels: { team: "db" } },
              ])
              for (let minute = 0; minute < 5; minute += 1) {
                await monitor.advance("1m")
                await demo.heartbeat("web-1")
              }
              const { page } = await openConsole(context, `${baseUrl}/#/incidents`)
              await signIn(page)
              await page.getByRole("link", { name: "late: backup: never reported" }).click()
              await page.getByText("team=db").waitFor()
              await page.getByRole("link", { name: "web-1/backup" }).click()
              await page.getByText("team=db").waitFor()
              await page.getByText("It is late: never reported, expected by").waitFor()
              await page.getByText("It had to report").waitFor()
              assert.strictEqual(await page.getByRole("alert").count(), 0)
              await demo.report("web-1", [{ check_id: "a", status: "ok", output: "" }])
              await page.goto(`${baseUrl}/#/checks`)
              const rows = page.getByRole("list", { name: "Checks" }).getByRole("link")
              await rows.nth(1).waitFor()
              assert.deepStrictEqual(await rows.allTextContents(), ["web-1/backup", "web-1/a"])
              const first = page.getByRole("list", { name: "Checks" }).getByRole("listitem").first()
              await first.locator(".mark.is-late.late-warning").waitFor()
              // Every place of the console says so.
              await page.getByRole("link", { name: "late 1" }).click()
              await page.getByText("web-1/a", { exact: true }).waitFor({ state: "detached" })
              await page.goto(`${baseUrl}/#/checks?view=grid`)
              await page.getByLabel("backup: late, never reported").waitFor()
              for (const place of ["overview", "wall"]) {
                await page.goto(`${baseUrl}/#/${place}`)
                await page.getByRole("link", { name: "1 checks late" }).waitFor()
                await page.locator(".part .mark.is-late.late-warning").first().waitFor()
              }
              await page.goto(`${baseUrl}/#/system`)
              await page.getByText("0 critical, 1 late, 0 unknown, 0 warning, 1 ok").waitFor()
              await page.goto(`${baseUrl}/#/checks`)
              await rows.first().click()
              await page.getByRole("button", { name: "Delete" }).click()
              await page.getByRole("button", { name: "Delete the check" }).click()
              await page.getByText("Deleted web-1/backup").waitFor()
              await page.getByRole("heading", { name: "web-1", exact: true }).waitFor()
              await page.getByText("late: backup: never reported").waitFor({ state: "detached" })
            })
          }),
      )

      it.effect("late, withdrawn and silenced checks are that on every page, and ok on none", () =>
        Effect.gen(function* () {
          const { baseUrl, demo, monitor } = yield* startMonitor()
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("web-1")
            const listing = (checks: ReadonlyArray<object>) => ({
              complete: true,
              as_of: new Date(performance.timeOrigin + performance.now()).toISOString(),
              checks,
            })
            const backup = { check_id: "backup", every: "1m", severity: "critical" }
            const others = [{ check_id: "load" }, { check_id: "held" }]
            await demo.declareAll("web-1", listing([backup, ...others, { check_id: "gone" }]))
            await demo.report("web-1", [
              { check_id: "backup", status: "ok", output: "41 GiB" },
              { check_id: "load", status: "ok", output: "0.3" },
              { check_id: "held", status: "warning", output: "slow" },
              { check_id: "gone", status: "critical", output: "full" },
            ])
            await monitor.advance("2m")
            await demo.declareAll("web-1", listing([backup, ...others]))
            await demo.call("POST", "ops/v1/silences", {
              matchers: [{ field: "check_id", op: "=", value: "held" }],
              for: "9h",
              comment: "known",
            })
            for (let minute = 0; minute < 5; minute += 1) {
              await monitor.advance("1m")
              await demo.heartbeat("web-1")
            }
            const { page } = await openConsole(context, `${baseUrl}/#/checks`)
            await signIn(page)
            const rows = page.getByRole("list", { name: "Checks" }).getByRole("listitem")
            const row = (id: string) =>
              rows.filter({ has: page.getByRole("link", { name: `web-1/${id}`, exact: true }) })
            await row("backup").locator(".mark.is-late.late-critical").waitFor()
            await row("held").locator(".mark.is-warning").waitFor()
            await row("held").getByText("silenced").waitFor()
            await row("load").locator(".mark.is-ok").waitFor()
            assert.strictEqual(await rows.locator(".mark.is-ok").count(), 1)
            // Withdrawn ones have their own list.
            assert.strictEqual(await row("gone").count(), 0)
            for (const [state, word] of [
              ["late", "late"],
              ["withdrawn", "withdrawn"],
            ] as const) {
              await page.goto(`${baseUrl}/#/checks?state=${state}`)
              await row("load").waitFor({ state: "detached" })
              await rows.first().waitFor()
              assert.deepStrictEqual(await rows.locator(".mark").allTextContents(), [word])
            }
            await page.goto(`${baseUrl}/#/checks?view=grid`)
            await page.getByLabel("backup: late, last ok").waitFor()
            await page.getByLabel("held: warning, silenced").waitFor()
            assert.strictEqual(await page.locator(".cell").count(), 2)
            for (const place of ["overview", "wall"]) {
              await page.goto(`${baseUrl}/#/${place}`)
              await page.getByRole("link", { name: "1 checks late" }).waitFor()
              await page.getByRole("link", { name: "1 checks ok" }).waitFor()
              await page.locator(".part .mark.is-late.late-critical").first().waitFor()
              const open = page.getByRole("region", { name: "Open incidents" })
              assert.notInclude((await open.allInnerTexts()).join(), "gone")
            }
            await page.goto(`${baseUrl}/#/system`)
            await page.getByText("0 critical, 1 late, 0 unknown, 1 warning, 1 ok").waitFor()
            await page.goto(`${baseUrl}/#/checks/web-1/backup`)
            await page.getByRole("heading", { name: "Why it is late" }).waitFor()
            await page.goto(`${baseUrl}/#/checks/web-1/gone`)
            await page.getByRole("heading", { name: "Why it is withdrawn" }).waitFor()
            for (const name of [...pages.keys(), "agents/web-1"]) {
              await page.goto(`${baseUrl}/#/${name}`)
              // A mere change of the address leaves the former page there for a while.
              await page.reload()
              await page.getByRole("heading", { level: 1 }).waitFor()
              await page.locator(".loading").first().waitFor({ state: "detached" })
              assert.deepStrictEqual(await page.evaluate(WRONG), [], name)
              if (name === "checks" || name === "agents/web-1")
                await page.locator("main a[href*='checks/web-1/backup']").first().waitFor()
            }
          })
        }),
      )

      it.effect("a maintenance window that begins and ends while a page is open", () =>
        Effect.gen(function* () {
          const { baseUrl, demo, monitor } = yield* startMonitor({
            startAt: "2026-03-02T01:50:00Z",
            policy: { windows: [nightly] },
          })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("web-1")
            await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "disk is full" }])
            await monitor.advance("1m")
            const { page } = await openConsole(context, `${baseUrl}/#/incidents?filter=disk`)
            await signIn(page)
            await page.getByText("notified debug").waitFor()
            await monitor.advance("10m")
            await page.getByText("window nightly").waitFor()
            await monitor.advance("1h")
            await page.getByText("notified debug").waitFor()
          })
        }),
      )
    })
  },
)

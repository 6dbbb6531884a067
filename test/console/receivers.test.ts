import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { enroll, report } from "../processes/Agent.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { secretOf } from "../processes/secrecy.ts"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import {
  Browser,
  chromium,
  isWide,
  openConsole,
  openContext,
  signIn,
  skipped,
  violationsOf,
} from "./Console.ts"
import { serve } from "./serve.ts"
import { startMonitor, startService } from "./Site.ts"

const READER = secretOf("reader")

/** Quiet hours, during which less than critical firings wait. */
const NIGHT = { hours: "22:00-06:00", tz: "UTC", below: "critical" } as const

/** A receiver that takes connections and answers nothing. */
const startHanging = serve(() => undefined)

describe.skipIf(chromium === undefined)(`receivers in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect.skipIf(!AT_LENGTH)(
      `one that hangs: a test message shows what came of it${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const folder = yield* scratchFolder
          const file = (name: string, text: string): string => {
            writeFileSync(join(folder, name), text, { mode: 0o600 })
            return join(folder, name)
          }
          const url = file("url", yield* startHanging)
          const secret = file("secret", `whsec_${Buffer.alloc(32, 7).toString("base64")}`)
          const policy = `receivers: { hung: { kind: webhook, url_file: ${url}, secret_file: ${secret} } }\n`
          const { baseUrl } = yield* startService({ SERVICE_POLICY_FILE: file("policy.yaml", policy) })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            const { page } = await openConsole(context, `${baseUrl}/#/receivers`)
            await signIn(page)
            await page.getByTitle("Send a test message to hung").click()
            const receivers = page.getByRole("list", { name: "Receivers" })
            await receivers
              .getByText("the test was deferred, The receiver did not answer within 15s")
              .waitFor()
          })
        }),
    )

    it.effect("one that no server can use is named with its reason and the notifications that wait", () =>
      Effect.gen(function* () {
        const service = yield* startService({ SERVICE_SECRETS_DIR: yield* scratchFolder })
        const policy = "receivers: { pager: { kind: messenger, url_env: TOCSIN_SECRET_PAGER } }\n"
        yield* Effect.promise(() =>
          fetch(`${service.baseUrl}/ops/v1/policy?confirm=true`, {
            method: "PUT",
            headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
            body: policy,
          }),
        )
        const agent = yield* enroll(service, "web-1")
        yield* report(service, agent, { check_id: "disk", status: "critical" })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${service.baseUrl}/#/system`)
          await signIn(page)
          await page.getByText("The service is unwell: no server can use one of the receivers").waitFor()
          const servers = page.getByRole("list", { name: "Servers" })
          for (const text of [
            "same policy",
            "notifies no receiver",
            "pager could not be reached: receivers.pager.",
          ])
            await servers.getByText(text).waitFor()
          await page.getByText("1 critical, 0 late, 0 unknown, 0 warning, 0 ok").waitFor()
          const facts = (await page.locator(".facts-list").innerText()).replaceAll(/\s+/g, " ")
          assert.match(
            facts,
            /^Version \d+\.\d+\.\d+.* started .* Storage ok .* Notifications unusable no server can use .* Time zones .* Policy .* Agents 1 alive/,
          )
          await page.getByRole("link", { name: "receivers", exact: true }).click()
          const receivers = page.getByRole("list", { name: "Receivers" })
          await receivers.getByText("no server can use it: receivers.pager.url_env names").waitFor()
          await receivers.getByText("1 notification waiting").waitFor()
          await page.goto(`${service.baseUrl}/#/incidents`)
          await page.getByText("pager could not be reached: receivers.pager.").waitFor()
        })
      }),
    )

    it.effect.skipIf(!AT_LENGTH)(
      `a browser of a person who signs in: its end is announced for 14 days${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const { baseUrl } = yield* startService()
          const context = yield* openContext
          yield* Effect.promise(async () => {
            const { page } = await openConsole(context, `${baseUrl}/#/receivers`)
            const row = (name: string, days: number) => ({
              id: name.repeat(4),
              operator: "oidc:ann",
              name,
              service: "updates.push.services.mozilla.com",
              created_at: new Date().toISOString(),
              taken_at: null,
              shown_at: null,
              last_error: null,
              expires_at: new Date(Date.now() + days * 86_400_000).toISOString(),
            })
            await page.route(/\/ops\/v1\/subscriptions/, (route) =>
              route.fulfill({ json: { items: [row("desk", 13.9), row("phone", 14.1)], next_cursor: null } }),
            )
            await signIn(page)
            const browsers = page.getByRole("list", { name: "Browsers" }).getByRole("listitem")
            await browsers.getByText(/ends .*, unless oidc:ann signs in again/).waitFor()
            const [desk = "", phone = ""] = await browsers.allInnerTexts()
            assert.include(desk, "unless oidc:ann signs in again")
            assert.notInclude(phone, "unless")
          })
        }),
    )

    it.effect.skipIf(!AT_LENGTH)(
      `one that the policy gave up before its notification was due: the incident says so${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo, monitor } = yield* startMonitor({
            policy: { receivers: { pager: { kind: "debug" } }, routes: [{ after: "1h", to: ["pager"] }] },
          })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("web-1")
            await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "disk is full" }])
            await monitor.setPolicy({})
            await monitor.advance("26h")
            const { page } = await openConsole(context, `${baseUrl}/#/incidents`)
            await signIn(page)
            await page.getByRole("link", { name: "disk is full" }).click()
            await page.getByText("Open because").waitFor()
            await page
              .getByText("pager was not notified: no replica had its receiver for 24 hours.")
              .waitFor()
          })
        }),
    )

    it.effect("those of a rota: one takes over with a preview, and gives it back by undo", () =>
      Effect.gen(function* () {
        const [ann, bob] = [{ kind: "debug" }, { kind: "debug", quiet: NIGHT }] as const
        const duty = { order: ["bob", "ann"], every: "7d", from: "2026-12-07T09:00" } as const
        const { baseUrl, demo, monitor } = yield* startMonitor({
          startAt: "2026-12-09T20:30:00Z",
          readTokens: [READER],
          linkKey: "a".repeat(64),
          policy: { receivers: { ann, bob }, rotas: { duty }, routes: [{ to: ["duty"] }] },
        })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "disk is full" }])
          await monitor.advance("1m")
          const { page, faults } = await openConsole(context, `${baseUrl}/#/incidents`)
          await signIn(page)
          await page.keyboard.press("g")
          await page.keyboard.press("r")
          const turns = page.getByRole("list", { name: "Turns of duty" })
          await turns.getByText("bob is quiet at times").first().waitFor()
          // The address is named by its rota, and answers without a sign-in.
          const calendar = page.getByText(/on-call\/[0-9a-f]{64}\/duty\.ics$/)
          const feed = await fetch((await calendar.textContent()) ?? "")
          assert.include(await feed.text(), "BEGIN:VEVENT")
          await page.getByRole("link", { name: "Take over duty" }).press("Enter")
          await page.getByLabel("ann", { exact: true }).press("Space")
          await page.getByLabel("Until, or for").fill("tonight")
          await page.getByRole("alert").getByText("neither a duration").waitFor()
          await page.getByLabel("Until, or for").fill("2h")
          await page
            .getByRole("status")
            .getByText(/^Now ann comes and bob leaves\. At .*, bob follows\.$/)
            .waitFor()
          await page.emulateMedia({ reducedMotion: "reduce" })
          assert.deepStrictEqual(await violationsOf(page, "all"), [])
          await page.setViewportSize({ width: 320, height: 800 })
          assert.isFalse(await isWide(page))
          await page.getByLabel("Note").fill("bob is at the dentist")
          await page.getByRole("button", { name: "Take over" }).press("Enter")
          const overrides = page.getByRole("list", { name: "Overrides" })
          await overrides.getByText(/bob is at the dentist, by/).waitFor()
          assert.isFalse(await isWide(page))
          await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" })
          assert.deepStrictEqual(await violationsOf(page, "width"), [])
          await monitor.advance("1m")
          await page.getByRole("button", { name: "Undo" }).press("Enter")
          await overrides.getByRole("button", { name: "End" }).waitFor({ state: "detached" })
          await monitor.advance("1m")

          await page.goto(`${baseUrl}/#/incidents`)
          await page.getByRole("link", { name: "disk is full" }).click()
          await page.getByText("On call in duty when it opened, by the present policy: bob.").waitFor()
          const timeline = page.getByRole("list", { name: "Timeline" })
          await timeline.getByText("notified ann (log only) (opened)").waitFor()
          await timeline.getByText("notified bob (log only) (handed over)").waitFor()
          await page.getByText("Decisions", { exact: true }).click()
          const decisions = page.getByRole("list", { name: "Decisions" })
          await decisions.getByText("named by the rota duty").first().waitFor()
          await decisions.getByText("docs/rules.md#handovers").first().waitFor()
          assert.deepStrictEqual(await violationsOf(page, "all"), [])

          await page.goto(`${baseUrl}/#/on-call`)
          await turns.waitFor()
          const body = { to: "2026-12-10T09:00:00Z", receivers: ["ann"] }
          await demo.call("POST", "ops/v1/rotas/duty/overrides", body)
          await turns.getByText("override").waitFor()
          await overrides.getByRole("button", { name: "End" }).click()
          await turns.getByText("override").waitFor({ state: "detached" })
          await page.getByRole("button", { name: "Undo" }).click()
          await turns.getByText("override").waitFor()
          await monitor.setPolicy({ receivers: { bob }, rotas: { duty: { ...duty, order: ["bob"] } } })
          await overrides.getByText("does not count: the policy has no ann").waitFor()
          await overrides.getByRole("button", { name: "End" }).click()
          await page.getByText("Ended the override").waitFor()
          await page.setViewportSize({ width: 1440, height: 900 })
          await page.getByRole("button", { name: "Sign out" }).click()
          await signIn(page, READER)
          await turns.waitFor()
          assert.strictEqual(await page.getByText(/Take over|\.ics/).count(), 0)
          await monitor.setPolicy({})
          const docs = await page.getByRole("link", { name: "How to write one" }).getAttribute("href")
          assert.strictEqual((await fetch(docs ?? "")).status, 200)
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("one of a later step: the incident says when it comes next", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startMonitor({
          policy: {
            receivers: { chat: { kind: "debug" }, pager: { kind: "debug" } },
            routes: [{ steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }],
          },
        })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "disk is full" }])
          const { page } = await openConsole(context, `${baseUrl}/#/incidents`)
          await signIn(page)
          await page.getByRole("link", { name: "disk is full" }).click()
          await page.getByText(/^Notified: chat \(log only\): .*\d:\d\d.*, opened, critical\.$/).waitFor()
          await page.getByText(/^Next: pager \(log only\): .*\d:\d\d.*, escalation\.$/).waitFor()
          await page
            .getByRole("list", { name: "Timeline" })
            .getByText(/^notifies pager \(log only\): .*\d:\d\d.*, escalation$/)
            .waitFor()
        })
      }),
    )
  })
})

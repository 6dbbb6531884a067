import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { Browser, chromium, flawsOf, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { Site } from "./Site.ts"

const REFUSED = { error: { code: "unauthorized", message: "no such token" } }

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined)(`the form of a silence${skipped}`, () => {
  layer(shared, { excludeTestServices: true })((it) => {
    it.effect("counts the end of a silence whose start is past from now, as the service does", () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/silences?new=yes`)
          await signIn(page)
          await page.getByLabel("For").fill("11:30")
          const fromNow = await page.getByText(/^Ends .*11:30/).textContent()
          await page.getByText("More", { exact: true }).click()
          await page.getByLabel("Starts").fill("2020-01-02T00:00")
          await page.getByText(`Starts now. ${fromNow}`).waitFor()
          // Until the checks are read, a part of a title would mean an ID.
          await page.route("**/ops/v1/checks?*", (route) => route.fulfill({ status: 500, body: "{}" }))
          await page.getByLabel("Comment").fill("moves")
          await page.getByLabel("Checks").fill("backup")
          await page.getByText(/^The checks could not be read: .*Try again/).waitFor()
          const button = page.getByRole("dialog").getByRole("button", { name: "Silence" })
          assert.isTrue(await button.isDisabled())
          await page.unroute("**/ops/v1/checks?*")
          await page.getByLabel("Checks").fill("backups")
          await page.getByText(/^0 checks/).waitFor()
          assert.isTrue(await button.isEnabled())
        })
      }),
    )

    it.effect("is a dialog that counts what it covers, and leads back to its button", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-quiet")
          await demo.report("host-quiet", [{ check_id: "disk", status: "critical", output: "full" }])
          await demo.call("PATCH", "ops/v1/checks/host-quiet/disk", { title: "The disk" })
          const { page, faults } = await openConsole(context, `${baseUrl}/#/silences`)
          await signIn(page)
          const dialog = page.getByRole("dialog", { name: "New silence" })
          const button = page.getByRole("button", { name: "New silence" })
          await button.press("Enter")
          await dialog.locator("input:focus").waitFor()
          await page.keyboard.press("Escape")
          await dialog.waitFor({ state: "detached" })
          await page.locator("button:focus", { hasText: "New silence" }).waitFor()
          await page.keyboard.press("Enter")
          await dialog.locator("input:focus").waitFor()
          assert.match((await dialog.textContent()) ?? "", /Checks.*For.*Comment.*Silence/)
          await page.keyboard.type("The disk")
          await dialog.getByText("1 check", { exact: true }).waitFor()
          await dialog.getByText(/^It covers 1 open incident/).waitFor()
          await dialog.getByText("Still missing: a comment").waitFor()
          assert.deepStrictEqual(await flawsOf(page), [])
          await page.keyboard.press("Tab")
          await page.keyboard.press("Tab")
          await page.keyboard.type("a new one comes")
          await page.keyboard.press("Enter")
          await page.getByText("Created 1 silence").waitFor()
          await dialog.waitFor({ state: "detached" })
          const row = page.getByRole("listitem").filter({ hasText: "a new one comes" })
          await row.getByText("agent_id = host-quiet, check_id = disk").waitFor()
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect.skipIf(!AT_LENGTH)(
      `marks incidents on pages that are open elsewhere, and takes the marks away at its end${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* Site
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("host-hush")
            await demo.report("host-hush", [{ check_id: "a", status: "critical", output: "a is loud" }])
            const { page: list } = await openConsole(context, `${baseUrl}/#/incidents?filter=host-hush`)
            await list.getByLabel("Stay signed in on this device").check()
            await signIn(list)
            await list.getByText("notified log").waitFor()
            const { page: incident } = await openConsole(context, list.url())
            await incident.getByRole("link", { name: "a is loud" }).click()
            await incident.getByText("Notified: log").waitFor()
            const { page: agent } = await openConsole(context, `${baseUrl}/#/agents/host-hush`)
            const marks = agent.getByRole("list", { name: "Open incidents" })
            await marks.getByText("notified log").waitFor()
            const matchers = [{ field: "agent_id", op: "glob", value: "host-hu*" }]
            const body = { matchers, for: "2h", comment: "a is being replaced" }
            const { id } = (await demo.call("POST", "ops/v1/silences", body)) as { readonly id: string }
            await list.getByText("silenced", { exact: true }).waitFor()
            await incident.getByText(/^Silenced by/).waitFor()
            await agent.getByText(/^Silenced by .*: a is being replaced$/).waitFor()
            await marks.getByText("silenced", { exact: true }).waitFor()
            await demo.call("DELETE", `ops/v1/silences/${id}`)
            await list.getByText("notified log").waitFor()
            await incident.getByText(/ended the silence/).waitFor()
            for (const page of [incident, agent])
              await page.getByText(/^Silenced by/).waitFor({ state: "detached" })
            await incident.getByRole("button", { name: "Acknowledge" }).click()
            await marks.getByText(/has it$/).waitFor()
          })
        }),
    )

    it.effect("marks an incident as explained until its notification no longer waits", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-dep")
          await demo.report("host-dep", [{ check_id: "uplink", status: "critical", output: "no carrier" }])
          await demo.report("host-dep", [{ check_id: "behind", status: "critical", output: "no answer" }])
          const { page: list } = await openConsole(context, `${baseUrl}/#/incidents?filter=host-dep`)
          await signIn(list)
          const mark = list.getByText("explained by host-dep/uplink", { exact: true })
          await mark.waitFor()
          await demo.report("host-dep", [{ check_id: "uplink", status: "ok", output: "up" }])
          await list.getByText("no carrier").waitFor({ state: "detached" })
          await mark.waitFor()
        })
      }),
    )

    it.effect("leads back to what was being written when the token ended, but nobody else", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const token = await demo.addOperator("ada", "respond")
          await demo.join("host-draft")
          await demo.report("host-draft", [{ check_id: "a", status: "critical", output: "a is lost" }])
          const { page } = await openConsole(context, `${baseUrl}/#/incidents?filter=host-draft`)
          const losesToken = async (operator: string): Promise<void> => {
            await page.route("**/v1/**", (route) => route.fulfill({ status: 401, json: REFUSED }), {
              times: 1,
            })
            await page.getByRole("alert").getByText("no longer valid").waitFor()
            await signIn(page, operator)
          }
          await signIn(page, token)
          await page.getByRole("link", { name: "a is lost" }).click()
          const note = page.getByLabel("Note")
          await note.fill("half a")
          await losesToken(OPERATOR_TOKEN)
          assert.strictEqual(await note.inputValue(), "")
          await losesToken(token)
          assert.strictEqual(await note.inputValue(), "half a")

          await page.getByRole("button", { name: "Silence" }).click()
          await page.getByLabel("Comment").fill("half a comment")
          await page.getByLabel("Checks").fill("agent_id = host-draft")
          await page.getByLabel("For").fill("3h")
          await losesToken(token)
          assert.strictEqual(await page.getByLabel("Comment").inputValue(), "half a comment")
          assert.strictEqual(await page.getByLabel("Checks").inputValue(), "agent_id = host-draft")
          assert.strictEqual(await page.getByLabel("For").inputValue(), "3h")
        })
      }),
    )
  })
})

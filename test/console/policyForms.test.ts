import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { Browser, chromium, flawsOf, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { Site, startService } from "./Site.ts"

const RECEIVERS = "# Ours.\nreceivers:\n  ann: { kind: debug } # days\n  bob: { kind: debug }\n"

describe.skipIf(chromium === undefined)(`forms over the policy${skipped}`, () => {
  layer(Layer.merge(Browser.layer, Site.layer), { excludeTestServices: true })((it) => {
    it.effect(
      "add a rota and a window, say what they change first, and keep what was typed in a conflict",
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* startService()
          const put = (body: string) =>
            fetch(`${baseUrl}/ops/v1/policy?confirm=true`, {
              method: "PUT",
              headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/yaml" },
              body,
            })
          const stored = async () => {
            const { items } = (await demo.call("GET", "ops/v1/policy/versions")) as {
              readonly items: ReadonlyArray<{ readonly text: string }>
            }
            return items[0]?.text
          }
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await put(RECEIVERS)
            await demo.join("nas")
            await demo.report("nas", [{ check_id: "backup", status: "ok", output: "fine" }])
            const { page, faults } = await openConsole(context, `${baseUrl}/#/on-call`)
            await signIn(page)
            const dialog = page.getByRole("dialog")
            const field = (name: string) => dialog.getByLabel(name, { exact: true })
            const chosen = (name: string) => dialog.getByRole("combobox", { name })
            const click = (name: string) => dialog.getByRole("button", { name, exact: true }).click()
            await page.getByRole("button", { name: "Add a rota" }).click()
            await dialog.getByText("Still missing: a name, an order").waitFor()
            await field("Name").fill("duty")
            await field("bob").check()
            await field("ann").check()
            await field("Every").fill("1d")
            await field("From").fill("2026-12-07T09:00")
            await dialog.getByText("Turns: bob, then ann").waitFor()
            await dialog.getByText("It notifies nobody at once.").waitFor()
            assert.deepStrictEqual(await flawsOf(page), [])
            // Somebody else is faster.
            let isFirst = true
            await page.route(/\/ops\/v1\/policy$/, async (route) => {
              if (isFirst && route.request().method() === "PATCH") {
                isFirst = false
                await put(`${RECEIVERS}again_after: 5m\n`)
              }
              await route.continue()
            })
            await click("Apply")
            await dialog.getByText(/^Another policy came into force meanwhile/).waitFor()
            assert.strictEqual(await field("Name").inputValue(), "duty")
            await dialog.getByText("It notifies nobody at once.").waitFor()
            await click("Apply")
            await page.getByText(/^Applied version \d+$/).waitFor()
            assert.strictEqual(await dialog.count(), 0)
            await page.getByRole("list", { name: "Rotas" }).getByText("duty").waitFor()
            const text = (await stored()) ?? ""
            assert.isTrue(text.startsWith(`${RECEIVERS}again_after: 5m\n`), text)
            assert.match(text, /rotas: \{ ?duty: \{.*order: \[ ?bob, ann ?\].*every: 1d/)

            await page.goto(`${baseUrl}/#/silences`)
            await page.getByRole("button", { name: "Add a window" }).click()
            await field("Name").fill("weekly-backup")
            assert.strictEqual(await chosen("Repeats").inputValue(), "weekly")
            await chosen("Day").selectOption("Sunday")
            await field("Checks").fill("nas/backup")
            await dialog.getByText("1 check", { exact: true }).waitFor()
            await field("Zone").fill("Europe/Berlin")
            await dialog.getByText("It notifies nobody at once.").waitFor()
            assert.deepStrictEqual(await flawsOf(page), [])
            await click("Apply")
            await page.getByText(/^Applied version \d+$/).waitFor()
            await page.getByRole("list", { name: "Maintenance windows" }).getByText("0 2 * * 0").waitFor()
            assert.include(await stored(), "agent_id = nas")
            assert.deepStrictEqual(
              faults.filter((fault) => !fault.includes("412")),
              [],
            )
          })
        }),
    )
  })
})

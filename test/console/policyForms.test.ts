import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { Browser, chromium, flawsOf, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { Site, startService } from "./Site.ts"

const ROUTED = `# Ours.
receivers:
  ann: { kind: debug } # days
  bob: { kind: debug }
routes:
  - match: [ "check_id glob backup*" ] # nightly
    flapping: { openings: 3, within: 60m, after: 2h } # noisy
    to: [ ann ]
`
const ADDED = `${ROUTED}  - { match: [ agent_id = nas, check_id = backup ], steps: [ { to: [ bob ] }, { after: 15m, to: [ ann, bob ] } ], after: 5m, remind: 4h }
`

const RECEIVERS = "# Ours.\nreceivers:\n  ann: { kind: debug } # days\n  bob: { kind: debug }\n"

/** A server with a policy, as an administrator's requests and its console see it. */
const opened = Effect.fnUntraced(function* (place: string, policy: string) {
  const { baseUrl, demo } = yield* startService()
  const put = async (body: string) => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/yaml" }
    const answer = await fetch(`${baseUrl}/ops/v1/policy?confirm=true`, { method: "PUT", headers, body })
    assert.strictEqual(answer.status, 200, await answer.text())
  }
  const stored = async () => {
    const { items } = (await demo.call("GET", "ops/v1/policy/versions")) as {
      readonly items: ReadonlyArray<{ readonly text: string }>
    }
    return items[0]?.text
  }
  const context = yield* openContext
  const { page, faults } = yield* Effect.promise(async () => {
    await put(policy)
    await demo.join("nas")
    await demo.report("nas", [{ check_id: "backup", status: "ok", output: "fine" }])
    const made = await openConsole(context, `${baseUrl}/#/${place}`)
    await signIn(made.page)
    return made
  })
  const dialog = page.getByRole("dialog")
  const field = (name: string) => dialog.getByLabel(name, { exact: true })
  const box = (group: string, name: string) => dialog.getByRole("group", { name: group }).getByLabel(name)
  const click = (name: string) => dialog.getByRole("button", { name, exact: true }).click()
  const applies = async () => {
    await click("Apply")
    await page.getByText(/^Applied version \d+/).waitFor()
    assert.strictEqual(await dialog.count(), 0)
  }
  return { baseUrl, demo, put, stored, page, faults, dialog, field, box, click, applies }
})

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
            await field("Name").fill("Duty")
            await dialog.getByText("Name: duty").waitFor()
            await field("bob").check()
            await field("ann").check()
            await field("Every").fill("1d")
            await field("From").fill("2026-12-07T09:00")
            await dialog.getByText("Turns: bob, then ann").waitFor()
            // It waits, also where the page is loaded again.
            await page.keyboard.press("Escape")
            await page.reload()
            await page.getByRole("button", { name: "Add a rota" }).click()
            await dialog.getByText("Turns: bob, then ann").waitFor()
            assert.strictEqual(await field("From").inputValue(), "2026-12-07T09:00")
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
            assert.strictEqual(await field("Name").inputValue(), "Duty")
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
            await page
              .getByRole("list", { name: "Maintenance windows" })
              .getByText("weekly, Sunday at 02:00")
              .waitFor()
            assert.include(await stored(), "agent_id = nas")
            assert.deepStrictEqual(
              faults.filter((fault) => !fault.includes("412")),
              [],
            )
          })
        }),
    )

    it.effect("add a route with a step, and say whom that notifies at once", () =>
      Effect.gen(function* () {
        const { applies, box, click, demo, dialog, faults, field, page, stored } = yield* opened(
          "policy",
          ROUTED,
        )
        yield* Effect.promise(async () => {
          await demo.report("nas", [{ check_id: "backup", status: "critical", output: "no space" }])
          const button = page.getByRole("button", { name: "Add a route" })
          // One of no check is asked about, and changes nothing while the answer is no.
          await button.click()
          await field("Checks").fill("shop-*")
          await box("To", "bob").check()
          await dialog.getByText("0 checks: write a title, an ID, or a name with *").waitFor()
          await click("Apply")
          const question = page.getByRole("dialog", { name: /^0 checks: nothing comes of it/ })
          await question.getByRole("button", { name: "Cancel" }).press("Enter")
          await question.waitFor({ state: "detached" })
          assert.strictEqual(await field("Checks").inputValue(), "shop-*")
          assert.strictEqual(await stored(), ROUTED)
          // All that are critical are no mistake, whether or not one is.
          await field("Checks").fill("severity != warning")
          await dialog.getByText('severity != warning"').waitFor()
          await dialog.getByText(/^0 checks/).waitFor({ state: "detached" })
          await dialog.locator("button:enabled", { hasText: "Apply" }).waitFor()
          await click("Cancel")
          // By the keyboard alone, which comes back to the button.
          await button.press("Enter")
          await dialog.waitFor()
          await page.keyboard.press("Escape")
          assert.strictEqual(await dialog.count(), 0)
          assert.strictEqual(await page.evaluate<string>("document.activeElement.textContent"), "Add a route")
          await page.keyboard.press("Enter")
          await dialog.locator("input:focus").waitFor()
          await page.keyboard.type("nas/backup")
          await dialog.getByText("1 check", { exact: true }).waitFor()
          await page.keyboard.press("Tab")
          await page.keyboard.press("Tab")
          await page.keyboard.press("Space")
          assert.isTrue(await box("To", "bob").isChecked())
          await dialog.getByText("It notifies at once: 1 notification, 1 to bob.").waitFor()
          await page.keyboard.press("Tab")
          await page.keyboard.type("5m")
          assert.strictEqual(await field("Wait").inputValue(), "5m")
          await page.keyboard.press("Tab")
          await page.keyboard.type("4h")
          await page.keyboard.press("Tab")
          await page.keyboard.press("Enter")
          await dialog.getByText("Still missing: after what and to whom in step 2").waitFor()
          const step = dialog.getByRole("group", { name: "Step 2" })
          await step.getByLabel("After").fill("15m")
          await step.getByLabel("ann").check()
          await step.getByLabel("bob").check()
          assert.match(
            (await dialog.textContent()) ?? "",
            /Checks.*To.*ann.*bob.*Wait.*Remind.*Step 2.*After.*ann.*bob.*Add a step/,
          )
          await dialog.getByText("It notifies nobody at once.").waitFor()
          assert.deepStrictEqual(await flawsOf(page), [])
          await applies()
          assert.strictEqual(await stored(), ADDED)
          const routes = page.getByRole("list", { name: "Routes" })
          await routes.getByText("to bob after 5m, after 15m to ann, bob, reminds after 4h").waitFor()
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("change a route, and leave what they cannot say byte for byte", () =>
      Effect.gen(function* () {
        const { applies, box, click, dialog, faults, field, page, put, stored } = yield* opened(
          "policy",
          ROUTED,
        )
        yield* Effect.promise(async () => {
          const change = page.getByRole("list", { name: "Routes" }).getByRole("button", { name: "Change" })
          await change.first().click()
          assert.strictEqual(await field("Checks").inputValue(), "check_id glob backup*")
          assert.isTrue(await box("To", "ann").isChecked())
          await dialog
            .getByText("flapping: { openings: 3, within: 1h, after: 2h }", { exact: true })
            .waitFor()
          await dialog.getByText("It changes nothing.").waitFor()
          await box("To", "bob").check()
          await field("Remind").fill("4h")
          await dialog.getByText("It notifies nobody at once.").waitFor()
          assert.deepStrictEqual(await flawsOf(page), [])
          await applies()
          const changed = ROUTED.replace("to: [ ann ]\n", "to: [ ann, bob ]\n    remind: 4h\n")
          assert.strictEqual(await stored(), changed)

          // Two people change it at once. What moved is still found, and what changed is said.
          await change.first().click()
          await field("Wait").fill("10m")
          const moved = changed.replace("routes:\n", "routes:\n  - { to: [ bob ] }\n")
          await put(moved)
          await dialog.getByText("It notifies nobody at once.").waitFor()
          await put(moved.replace("remind: 4h", "remind: 8h"))
          await dialog.getByText(/^Somebody changed this entry meanwhile, to .*remind: 8h/).waitFor()
          await click("Apply")
          await dialog.getByRole("alert").getByText("Somebody changed this entry meanwhile").waitFor()
          assert.strictEqual(await field("Wait").inputValue(), "10m")
          await applies()
          assert.strictEqual(await stored(), `${moved}    after: 10m\n`)

          // One removes it.
          await change.last().click()
          await field("Wait").fill("1h")
          const alone = moved.slice(0, moved.indexOf("  - match"))
          await put(alone)
          await dialog.getByText(/^Somebody removed this entry meanwhile/).waitFor()
          await click("Apply")
          await dialog.getByRole("alert").getByText("Somebody removed this entry meanwhile").waitFor()
          assert.strictEqual(await field("Wait").inputValue(), "1h")
          await applies()
          assert.match((await stored()) ?? "", /^ {2}- \{.*check_id glob backup.*after: 1h/m)

          // A key that is blank goes without the question of a removal.
          await change.last().click()
          await field("Wait").fill("")
          await applies()
          assert.notInclude(await stored(), "after: 1h")
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("change a window and a rota that have more than they ask for", () =>
      Effect.gen(function* () {
        const text = `tz: UTC
${RECEIVERS}windows:
  - name: night # always
    cron: 0 2 * * 1-5
    for: 90m
    match: [ agent_id = nas ]
    comment: updates
  - { name: monthly, cron: 30 3 1 * *, tz: UTC, for: 2h, match: [ agent_id = nas ] }
rotas:
  duty: { order: [ ann, bob ], every: 7d, from: "2026-12-07T09:00", hours: [ { hours: 08:00-20:00 } ], otherwise: bob }
  team: { order: [ [ ann, bob ], ann ], every: 7d, from: "2026-12-07T09:00" }
`
        const { applies, baseUrl, click, dialog, faults, field, page, put, stored } = yield* opened(
          "silences",
          text,
        )
        yield* Effect.promise(async () => {
          const change = (name: string) => page.getByTitle(`Change ${name}`, { exact: true }).click()
          await page.getByText("0 2 * * 1-5 UTC, for 90m: agent_id = nas").waitFor()
          await page.getByText("monthly, on day 1 at 03:30 UTC, for 2h: agent_id = nas").waitFor()
          await change("night")
          assert.strictEqual(await dialog.getByLabel("Repeats").count(), 0)
          await dialog.getByText('cron: "0 2 * * 1-5"').waitFor()
          await dialog.getByText("comment: updates").waitFor()
          assert.strictEqual(await field("For").inputValue(), "90m")
          await field("For").fill("3h")
          // A colleague changes it while that waits.
          await page.keyboard.press("Escape")
          await put(text.replace("for: 90m", "for: 5h"))
          await page.getByText(/\b5h\b/).waitFor()
          await change("night")
          await dialog.getByText(/^Somebody changed this entry meanwhile, to .*5h/).waitFor()
          assert.strictEqual(await field("For").inputValue(), "3h")
          await click("Apply")
          await dialog.getByText("What you typed is still here.").waitFor()
          await applies()
          let expected = text.replace("for: 90m", "for: 3h")
          assert.strictEqual(await stored(), expected)
          await change("monthly")
          assert.strictEqual(await dialog.getByRole("combobox", { name: "Repeats" }).inputValue(), "monthly")
          assert.strictEqual(await field("At").inputValue(), "03:30")
          await dialog.getByRole("combobox", { name: "Repeats" }).selectOption("weekly")
          await dialog.getByRole("combobox", { name: "Day" }).selectOption("Tuesday")
          await applies()
          expected = expected.replace("30 3 1 * *", "30 3 * * 2")
          assert.strictEqual(await stored(), expected)
          await change("monthly")
          await dialog.getByRole("button", { name: "Remove it" }).click()
          await page.getByText("Remove this from the policy?").waitFor()
          await page.getByRole("button", { name: "Remove this entry" }).click()
          await page.getByText(/^Applied version \d+$/).waitFor()
          await dialog.waitFor({ state: "detached" })
          expected = expected.replace(/ {2}- \{ name: monthly.*\n/, "")
          assert.strictEqual(await stored(), expected)

          await page.goto(`${baseUrl}/#/on-call`)
          await change("duty")
          assert.isTrue(await field("Name").isDisabled())
          await dialog.getByText(/^otherwise: bob/).waitFor()
          await field("ann").uncheck()
          await field("ann").check()
          await dialog.getByText("Turns: bob, then ann").waitFor()
          await applies()
          expected = expected.replace("order: [ ann, bob ], every", "order: [ bob, ann ], every")
          assert.strictEqual(await stored(), expected)
          await change("team")
          await dialog.getByText("order: [[ann, bob], ann]").waitFor()
          await field("Every").fill("1d")
          await applies()
          expected = expected.replace(/(team:.*every: )7d/, "$11d")
          assert.strictEqual(await stored(), expected)
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("add a line to a page, named like its check, and change one", () =>
      Effect.gen(function* () {
        const text = `${RECEIVERS}pages:
  shop:
    title: Shop
    groups:
      - title: Services
        lines:
          - { name: Web, id: eu, match: [ agent_id = eu ] }
          - { name: Web, id: web, match: [ agent_id = web ] } # the front
`
        const { applies, demo, dialog, faults, field, page, stored } = yield* opened("pages", text)
        yield* Effect.promise(async () => {
          await demo.call("PATCH", "ops/v1/checks/nas/backup", { title: "Nightly backup" })
          await page.getByRole("button", { name: "Add a line" }).click()
          assert.match((await dialog.textContent()) ?? "", /Checks.*Name/)
          await field("Checks").fill("Nightly backup")
          await dialog.getByText("1 check", { exact: true }).waitFor()
          assert.strictEqual(await field("Name").inputValue(), "Nightly backup")
          await dialog.getByText("It notifies nobody at once.").waitFor()
          assert.deepStrictEqual(await flawsOf(page), [])
          await applies()
          const added = `${text}          - { name: Nightly backup, match: [ agent_id = nas, check_id = backup ] }\n`
          assert.strictEqual(await stored(), added)
          await page.getByText("Nightly backup (nas/backup)").waitFor()
          await page.getByTitle("Change Web").first().click()
          await field("Name").fill("Half a name")
          await page.keyboard.press("Escape")
          await page.getByTitle("Change Web").last().click()
          await dialog.getByText("id: web", { exact: true }).waitFor()
          assert.strictEqual(await field("Name").inputValue(), "Web")
          await field("Name").fill("Front")
          await applies()
          assert.strictEqual(await stored(), added.replace("name: Web, id: web", "name: Front, id: web"))
          assert.deepStrictEqual(faults, [])
        })
      }),
    )
  })
})

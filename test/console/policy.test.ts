import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import {
  Browser,
  chromium,
  flawsOf,
  isWide,
  openConsole,
  openContext,
  signIn,
  skipped,
  violationsOf,
} from "./Console.ts"
import { DemoClient } from "./demo.ts"
import { Site } from "./Site.ts"

const TEXT = `receivers:
  chat: { kind: debug }
  mail: { kind: debug }
routes:
  - { match: ["severity = critical"], to: [chat, mail] }
  - { match: ["check_id glob disk*"], to: [chat] }
`

const SELECTED = `(({ selectionEnd, selectionStart, value }) => value.slice(selectionStart, selectionEnd))(document.activeElement)`

/** Stores a policy as another administrator would. */
const apply = async (base: string, body: string): Promise<void> => {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
  const { status } = await fetch(`${base}/ops/v1/policy`, { method: "PUT", headers, body })
  assert.strictEqual(status, 200)
}

describe.skipIf(chromium === undefined)(`the policy in the console${skipped}`, () => {
  layer(Layer.merge(Browser.layer, Site.layer), { excludeTestServices: true })((it) => {
    it.effect("is checked while one types, tried, applied, compared, taken back", () =>
      Effect.gen(function* () {
        const cwd = yield* scratchFolder
        const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_DATA_DIR: cwd }
        const { baseUrl } = yield* startServer({ cwd, environment })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const demo = new DemoClient(baseUrl)
          await demo.join("web-1")
          await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "disk is full" }])
          await apply(baseUrl, "receivers:\n  chat: { kind: debug }\n  mail: { kind: debug }\n")
          const { page, faults } = await openConsole(context, baseUrl)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          const text = page.getByRole("textbox", { name: "Policy" })
          await signIn(page)
          await page.keyboard.press("g")
          await page.keyboard.press("l")
          await text.fill(TEXT)
          await page.getByText(/^Valid[.;]/).waitFor()
          await click("Try on 30 days")
          await page.getByRole("row", { name: "mail" }).waitFor()
          await click("Apply")
          await page.getByText("Applied version 2").waitFor()
          assert.isTrue(await page.getByRole("button", { name: "Apply", exact: true }).isDisabled())

          await text.press("Control+End")
          await page.keyboard.type("  - { to: [pager] }\n")
          const problems = page.getByRole("list", { name: "Problems and warnings" })
          await problems.getByText("names no receiver").waitFor()
          assert.strictEqual(await text.getAttribute("aria-invalid"), "true")
          assert.isTrue(await page.getByRole("button", { name: "Apply", exact: true }).isDisabled())
          await text.press("Control+Home")
          await page.getByRole("button", { name: "Line 7" }).press("Enter")
          assert.strictEqual(await page.evaluate<string>(SELECTED), "  - { to: [pager] }")
          assert.deepStrictEqual(await flawsOf(page), [])
          await page.keyboard.type("  - { to: [mail], after: 5m }")
          await page.getByText(/^Valid[.;]/).waitFor()

          // Another administrator is quicker.
          await apply(baseUrl, "receivers: { chat: { kind: debug }, mail: { kind: debug } }\n")
          await page.getByText("Another policy came into force since you began.").waitFor()
          await click("Apply")
          await page.getByRole("alert").getByText("another policy is in force").waitFor()
          await click("Close")
          await page.goto(`${baseUrl}/#/silences`)
          await page.goto(`${baseUrl}/#/policy`)
          assert.include(await text.inputValue(), "after: 5m")
          await click("Keep mine")
          await page.getByRole("region", { name: "Changes" }).getByText("+   - { to: [mail]").waitFor()
          await click("Apply")
          await page.getByText("Applied version 4").waitFor()

          await page.getByRole("link", { name: "Versions" }).click()
          await page.getByRole("link", { name: "Version 2" }).click()
          const changes = page.getByRole("region", { name: "Changes of version 2" })
          await changes.getByText("+   - { match:").first().waitFor()
          await page.getByLabel("compared with").selectOption("4")
          await changes.getByText("-   - { to: [mail]").waitFor()
          assert.deepStrictEqual(await violationsOf(page, "width"), [])
          assert.isFalse(await isWide(page))
          await click("Edit it, to apply it again")
          await page.getByText(/^Valid[.;]/).waitFor()
          await click("Apply")
          await page.getByText("Applied version 5").waitFor()
          assert.notInclude(await text.inputValue(), "5m")

          await page.goto(`${baseUrl}/#/pages`)
          const form = page.getByRole("dialog")
          await click("New page")
          await form.getByLabel("Name", { exact: true }).fill("shop")
          await form.getByLabel("Title").fill("The shop")
          await form.getByText("Still missing: checks, what its line is called").waitFor()
          await form.getByLabel("Checks").fill("web-1/disk")
          await form.getByText("1 check", { exact: true }).waitFor()
          assert.strictEqual(await form.getByLabel("Line").inputValue(), "disk")
          await form.getByText("It notifies nobody at once.").waitFor()
          assert.deepStrictEqual([await violationsOf(page, "width"), await isWide(page)], [[], false])
          await form.getByRole("button", { name: "Apply" }).click()
          await page.getByText("Applied version 6").waitFor()
          await page.frameLocator("iframe").getByRole("heading", { name: "The shop" }).waitFor()
          await page.goto(`${baseUrl}/#/policy`)

          // Without a confirmation, nothing names what no server can use.
          await text.fill("receivers: { a: { kind: messenger, url_env: TOCSIN_SECRET_A } }\n")
          await click("Apply")
          const dialog = page.getByRole("dialog")
          await dialog.getByText(/^No server could use 1 of the receivers \(a\).*; correct this\.$/).waitFor()
          await dialog.getByRole("button", { name: "Cancel" }).click()
          await click("Apply")
          await dialog.getByRole("button", { name: "Do it all the same" }).click()
          await page.getByText("Applied version 7").waitFor()
          await page.goto(`${baseUrl}/#/audit`)
          await page
            .getByRole("link", { name: /^policy / })
            .first()
            .click()
          await text.waitFor()
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("is shown and not changed where a file decides", () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/policy`)
          await signIn(page)
          await page.getByText("It is not changed here: SERVICE_POLICY_FILE is set").waitFor()
          await page
            .locator("pre", { hasText: '- { match: ["agent_id glob paged-*"], to: [pager] }' })
            .waitFor()
          assert.strictEqual(await page.getByRole("textbox").count(), 0)
          // A form writes the lines to paste.
          await page.getByTitle("Change route 2").click()
          const dialog = page.getByRole("dialog")
          await dialog.getByLabel("Wait").fill("2h")
          await dialog
            .getByText('routes:\n  - { match: ["agent_id glob held-*"], to: [log], after: 2h }')
            .waitFor()
          assert.strictEqual(await dialog.getByRole("button", { name: "Apply" }).count(), 0)
        })
      }),
    )
  })
})

import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { Site } from "./Site.ts"

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined)(`the frame of the console${skipped}`, () => {
  layer(shared, { excludeTestServices: true })((it) => {
    it.effect("opens panels that take the focus, and that Escape, a click elsewhere and a way close", () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/silences`)
          await signIn(page)
          for (const [button, title] of [
            ["Settings", "Settings"],
            ["Shortcuts", "Shortcuts"],
          ] as const) {
            const opens = page.getByRole("button", { name: button, exact: true })
            const panel = page.getByRole("dialog", { name: title })
            const closed = () => panel.waitFor({ state: "detached" })
            await opens.click()
            const [from, to] = [await opens.boundingBox(), await panel.boundingBox()]
            assert.isBelow((to?.x ?? Infinity) - (from?.x ?? 0), 200)
            assert.isAtLeast((to?.y ?? 0) + (to?.height ?? 0), from?.y ?? Infinity)
            await page.keyboard.press("Tab")
            await panel.locator(":focus").waitFor()
            await page.keyboard.press("Escape")
            await closed()
            await opens.and(page.locator(":focus")).waitFor()
            assert.strictEqual(page.url(), `${baseUrl}/#/silences`)
            await opens.click()
            await page.getByRole("heading", { name: "Silences" }).click()
            await closed()
            await opens.click()
            await panel.waitFor()
            await opens.click()
            await closed()
            await opens.click()
            await panel.getByRole("button", { name: "Close" }).click()
            await closed()
            await opens.click()
            for (const key of ["g", "a"]) await page.keyboard.press(key)
            await page.getByRole("heading", { name: "Agents" }).waitFor()
            await closed()
            await page.goBack()
            await page.getByRole("heading", { name: "Silences" }).waitFor()
          }
          await page.keyboard.press("?")
          await page.getByRole("dialog", { name: "Shortcuts" }).waitFor()
          await page.keyboard.press("?")
          await page.getByRole("dialog", { name: "Shortcuts" }).waitFor({ state: "detached" })
        })
      }),
    )

    it.effect(
      "takes the token at once, says that it signs in, and has a menu and names no keys on a phone",
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* Site
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("host-phone")
            await demo.report("host-phone", [{ check_id: "a", status: "critical", output: "a is small" }])
            const { page } = await openConsole(context, `${baseUrl}/#/incidents?filter=host-phone`)
            await page.locator("#token:focus").waitFor()
            let answer: (() => void) | undefined
            const isSeen = new Promise<void>((resolve) => (answer = resolve))
            await page.route("**/ops/v1/me", (asked) => isSeen.then(() => asked.continue()))
            await page.keyboard.insertText(OPERATOR_TOKEN)
            await page.keyboard.press("Enter")
            await page.getByRole("button", { name: "Signing in …" }).waitFor()
            answer?.()
            await page.getByRole("link", { name: "a is small" }).click()
            const hinted = page.getByPlaceholder("Ctrl+Enter")
            await hinted.waitFor()
            await page.setViewportSize({ width: 390, height: 844 })
            await hinted.waitFor({ state: "detached" })
            assert.strictEqual(await page.getByTitle("Ctrl+Enter").count(), 0)

            await page.setViewportSize({ width: 320, height: 568 })
            assert.isAtMost((await page.getByRole("banner").boundingBox())?.height ?? Infinity, 56)
            await page.getByText(/^\d+ open · \d+ alive$/).waitFor()
            const menu = page.getByRole("button", { name: "Menu" })
            const links = page.getByRole("navigation").getByRole("link")
            assert.strictEqual(await links.count(), 0)
            await menu.click()
            for (const name of await links.allTextContents()) {
              if (!(await links.first().isVisible())) await menu.click()
              await links.filter({ hasText: name }).click()
              await page.getByRole("heading", { name: name.replace(/\d+$/, ""), level: 1 }).waitFor()
              await links.first().waitFor({ state: "hidden" })
            }
            await menu.click()
            const settings = page.getByRole("button", { name: "Settings" })
            await settings.click()
            await page.getByLabel("Sound for new incidents").click({ trial: true })
            await page.keyboard.press("Escape")
            await settings.and(page.locator(":focus")).waitFor()
            await page.keyboard.press("Escape")
            await menu.and(page.locator(":focus")).waitFor()
          })
        }),
    )

    it.effect("selects all waiting keys, also on a phone, and takes a double click for one act", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const ids = ["some-1", "some-2", "some-3", "some-4"]
          for (const id of ids) await demo.heartbeat(id)
          const { page } = await openConsole(context, `${baseUrl}/#/admission`)
          await signIn(page)
          const all = page.getByRole("checkbox", { name: "Select all" })
          const status = page.getByRole("status")
          const isMixed = () => all.evaluate((box) => box.matches(":indeterminate"))
          await all.check()
          await status.getByText("4 selected").waitFor()
          assert.isFalse(await isMixed())
          await page.getByLabel("Select some-1").uncheck()
          await status.getByText("3 selected").waitFor()
          assert.isTrue(await isMixed())
          await all.click()
          await status.getByText("4 selected").waitFor()
          await page.getByRole("button", { name: "Clear" }).click()
          await page.setViewportSize({ width: 390, height: 844 })
          await page.getByRole("button", { name: "Select all" }).click()
          await status.getByText("4 selected").waitFor()
          await page.setViewportSize({ width: 1440, height: 900 })
          for (const id of ["some-3", "some-4"]) await page.getByLabel(`Select ${id}`).uncheck()
          // The second click meets the button that has come below the pointer.
          const place = await page.getByRole("button", { name: "Accept selected" }).boundingBox()
          const [x, y] = [(place?.x ?? 0) + 10, (place?.y ?? 0) + 10]
          await page.mouse.click(x, y)
          const next = page.getByRole("button", { name: "Accept all" })
          await next.waitFor()
          const below = await next.boundingBox()
          await page.mouse.move((below?.x ?? 0) + 10, (below?.y ?? 0) + 10)
          await page.mouse.down({ clickCount: 2 })
          await page.mouse.up({ clickCount: 2 })
          await page.getByText("Accepted 2").waitFor()
          assert.strictEqual(await page.getByRole("dialog").count(), 0)
          await next.click()
          await page.getByRole("dialog").waitFor()
        })
      }),
    )
  })
})

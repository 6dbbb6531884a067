import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startMonitor } from "./Site.ts"

describe.skipIf(chromium === undefined)(`an invitation in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("is made with a QR code, names its operator, and is used by its button alone", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startMonitor()
        const [context, other, third] = [yield* openContext, yield* openContext, yield* openContext]
        yield* Effect.promise(async () => {
          await demo.addOperator("eve", "respond")
          const { page } = await openConsole(context, `${baseUrl}/#/operators`)
          await signIn(page)
          await page.getByTitle("Invite eve").click()
          const box = await page.getByRole("img", { name: "QR code of the link" }).boundingBox()
          assert.isAtLeast(Math.min(box?.width ?? 0, box?.height ?? 0), 80)
          // Where no field has the focus, keys are the dialog's, too.
          const copy = page.locator("dialog").getByRole("button", { name: "Copy" })
          for (const key of ["g", "i"]) await copy.press(key)
          assert.match(page.url(), /#\/operators$/)
          const link = (await page.locator("dialog code").textContent()) ?? ""
          await copy.press("Escape")
          await page.getByRole("dialog").waitFor({ state: "detached" })
          assert.match(link, /\/#\/invitation\/invite_[\w-]{43}$/)
          const at = `${baseUrl}/${link.slice(link.indexOf("#"))}`
          const { page: invited } = await openConsole(other, at)
          await invited.getByText("You are invited as eve, with the role respond.").waitFor()
          await invited.reload()
          await invited.getByRole("button", { name: "Sign in" }).click()
          await invited.getByText("You are invited as eve").waitFor({ state: "detached" })
          await invited.getByText("eve").first().waitFor()
          assert.notInclude(invited.url(), "invite_")
          const { page: again } = await openConsole(third, at)
          await again.getByText("this invitation was used").waitFor()
        })
      }),
    )
  })
})

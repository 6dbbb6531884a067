import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../../bench/src/processes/freePort.ts"
import {
  Browser,
  chromium,
  flawsOf,
  openConsole,
  openContext,
  overlapsOf,
  signIn,
  skipped,
} from "./Console.ts"
import { sendMail } from "../senders/MailClient.ts"
import { startService } from "./Site.ts"

describe.skipIf(chromium === undefined)(`mails of an integration in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("are listed with what became of them, and one is made a rule that is tried first", () =>
      Effect.gen(function* () {
        const port = yield* Effect.promise(freePort)
        const { baseUrl, demo } = yield* startService({
          SERVICE_MAIL_PORT: `${port}`,
          SERVICE_MAIL_DOMAIN: "mail.example",
        })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { urls } = (await demo.call("POST", "ops/v1/integrations", {
            name: "nas",
            kind: "mail",
          })) as {
            readonly urls: ReadonlyArray<string>
          }
          for (const volume of [1, 2, 3]) {
            const mail = `From: nas@example.org\nSubject: Volume ${volume} crashed\n\nLook.\n`
            const replies = await Effect.runPromise(sendMail(port, [urls[0] ?? ""], mail))
            assert.match(replies.join(), /^250 /)
          }
          const { page } = await openConsole(context, `${baseUrl}/#/integrations`)
          await signIn(page)
          await page.locator('[data-id="nas"]').getByRole("button", { name: "Mails", exact: true }).click()
          const dialog = page.getByRole("dialog", { name: "Mails to nas" })
          const row = dialog.getByRole("listitem").filter({ hasText: "Volume 1 crashed" })
          await row.getByText("from nas@example.org").waitFor()
          await row.getByRole("link", { name: /critical, by subject$/ }).waitFor()
          assert.deepStrictEqual(await overlapsOf(page), [])
          await row.getByRole("button", { name: "Make a rule" }).click()
          await dialog.getByLabel("Subject").and(dialog.locator(":focus")).waitFor()
          await dialog.getByLabel("Subject").fill("Volume * crashed")
          await dialog.getByLabel("Check").fill("volume-$1")
          await dialog.getByRole("combobox", { name: "Status" }).selectOption("warning")
          await dialog.getByRole("button", { name: "Try", exact: true }).click()
          await dialog.getByText(/^It would be: volume-1 warning, by rule 1/).waitFor()
          assert.deepStrictEqual(await flawsOf(page), [])
          await dialog.getByRole("button", { name: "Add the rule" }).click()
          await page.getByText("Added a rule to nas").waitFor()
          const { options } = (await demo.call("GET", "ops/v1/integrations/nas")) as {
            readonly options: unknown
          }
          const match = { subject: "Volume * crashed", from: "nas@example.org" }
          assert.deepStrictEqual(options, { rules: [{ match, check: "volume-$1", status: "warning" }] })
        })
      }),
    )
  })
})

import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { Browser, chromium, flawsOf, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { DemoClient } from "./demo.ts"
import { serve } from "./serve.ts"
import { startService } from "./Site.ts"

/** A chat that takes each message of its address, and refuses others. */
const startChat = Effect.gen(function* () {
  const messages: Array<string> = []
  const address = yield* serve((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (part: string) => (body += part))
    request.on("end", () => {
      const isOurs = request.url === "/hook"
      if (isOurs) messages.push(body)
      response.writeHead(isOurs ? 200 : 404).end("ok")
    })
  })
  return { messages, address }
})

const QUIET = `tz: UTC
receivers:
  ann: # on days
    kind: debug
    quiet: { hours: 22:00-07:00, days: [sat, sun], below: critical } # sleep
  hook: { kind: debug }
`

describe.skipIf(chromium === undefined)(`the forms of receivers in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("add a receiver that was tested, change it, keep its secrets, and delete it", () =>
      Effect.gen(function* () {
        const cwd = yield* scratchFolder
        const chat = yield* startChat
        const { baseUrl } = yield* startServer({
          cwd,
          environment: {
            SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
            SERVICE_DATA_DIR: cwd,
            SERVICE_WATCH_LOOPBACK: "true",
            SERVICE_WEBHOOK_URL: `${chat.address}/settings`,
            SERVICE_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
          },
        })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page, faults } = await openConsole(context, `${baseUrl}/#/receivers`)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          const dialog = page.getByRole("dialog")
          const row = (name: string) =>
            page.getByRole("list", { name: "Receivers" }).getByRole("listitem").filter({ hasText: name })
          await signIn(page)
          await row("webhook").getByText("webhook, by the server's settings").waitFor()
          assert.strictEqual(await row("webhook").getByRole("button", { name: "Delete" }).count(), 0)
          await page.getByRole("combobox", { name: "Type" }).selectOption("Slack, or a chat like it")
          const address = page.getByRole("textbox", { name: "Address" })
          assert.strictEqual(await address.getAttribute("type"), "password")
          await click("Send a test")
          await page.getByRole("alert").getByText("Address is missing.").waitFor()
          assert.strictEqual(await address.getAttribute("aria-invalid"), "true")
          await address.fill(`${chat.address}/typo`)
          assert.strictEqual(await page.getByRole("alert").count(), 0)
          await click("Send a test")
          await page.getByRole("alert").getByText("the test was refused").waitFor()
          // Until the receiver answers, the form says that it is at work.
          let answer = (): void => undefined
          const held = new Promise<void>((resolve) => (answer = resolve))
          await page.route(/\/try$/, async (route) => {
            await held
            await route.continue()
          })
          await address.fill(`${chat.address}/hook`)
          await click("Send a test")
          await page.getByRole("status").getByText("Testing, for up to 45 s").waitFor()
          answer()
          await page.getByText("the test was delivered").waitFor()
          assert.strictEqual(await page.getByText(/^Testing,/).count(), 0)
          assert.lengthOf(chat.messages, 1)
          assert.strictEqual(await row("chat").count(), 0)
          assert.deepStrictEqual(await flawsOf(page), [])

          // It takes the place of the notifiers of the settings, so the service asks first.
          await click("Save")
          await dialog.getByText(/fall silent: webhook\.$/).waitFor()
          await dialog.getByRole("button", { name: "Do it all the same" }).click()
          await page.getByText("Saved chat", { exact: true }).waitFor()
          await row("chat").getByText("usable", { exact: true }).waitFor()
          await row("chat").getByRole("button", { name: "Test" }).click()
          await row("chat").getByText("the test was delivered").waitFor()
          assert.strictEqual(await address.inputValue(), "")
          await page.getByLabel("Name").fill("chat")
          await address.fill(`${chat.address}/hook`)
          await click("Save")
          await page.getByRole("alert").getByText("There is a receiver chat already").waitFor()

          await row("chat").getByRole("button", { name: "Edit" }).press("Enter")
          assert.strictEqual(await address.inputValue(), "")
          await page.getByText("More", { exact: true }).click()
          await page.getByLabel("Acknowledge").fill("soon")
          await click("Save")
          await page
            .getByRole("alert")
            .getByText(/^Acknowledge link must be/)
            .waitFor()
          await page.getByLabel("Acknowledge").fill("1h")
          await page.getByRole("button", { name: "Save" }).press("Enter")
          await page.getByText("Saved chat", { exact: true }).waitFor()
          await row("chat").getByRole("button", { name: "Test" }).click()
          await row("chat").getByText("the test was delivered").waitFor()
          assert.lengthOf(chat.messages, 3)
          const { items } = (await new DemoClient(baseUrl).call("GET", "ops/v1/policy/versions")) as {
            readonly items: ReadonlyArray<{ readonly text: string }>
          }
          assert.match(items[0]?.text ?? "", /chat:[^]*secrets: chat[^]*acknowledge: 1h/)

          await page.getByRole("combobox", { name: "Type" }).selectOption("Webhook")
          await address.fill(`${chat.address}/hook`)
          await click("Save")
          const secret = await page.locator(".once code").textContent()
          assert.match(secret ?? "", /^whsec_.{44}$/)

          await row("webhook").getByRole("button", { name: "Delete" }).click()
          await dialog.getByRole("button", { name: "Delete the receiver" }).click()
          await page.getByText("Deleted webhook", { exact: true }).waitFor()
          // A change names the policy that the page shows: the next one waits until it was read again.
          await row("webhook").waitFor({ state: "detached" })
          await row("chat").getByRole("button", { name: "Delete" }).click()
          await dialog.getByRole("button", { name: "Delete the receiver" }).click()
          await dialog.getByText(/notify again: webhook\.$/).waitFor()
          await dialog.getByRole("button", { name: "Do it all the same" }).click()
          await row("webhook").getByText("webhook, by the server's settings").waitFor()
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("edit quiet hours in a dialog that keeps all else, whoever else edits them", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const put = async (body: string) => {
            const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/yaml" }
            const address = `${baseUrl}/ops/v1/policy?confirm=true`
            const answer = await fetch(address, { method: "PUT", headers, body })
            assert.strictEqual(answer.status, 200, await answer.text())
          }
          const stored = async () => {
            const { items } = (await demo.call("GET", "ops/v1/policy/versions")) as {
              readonly items: ReadonlyArray<{ readonly text: string }>
            }
            return items[0]?.text
          }
          await put(QUIET)
          const { page, faults } = await openConsole(context, `${baseUrl}/#/receivers`)
          await signIn(page)
          const dialog = page.getByRole("dialog", { name: "Edit ann" })
          const field = (name: string) => dialog.getByLabel(name, { exact: true })
          const edit = async () => {
            await page.getByTitle("Edit ann").press("Enter")
            await dialog.getByText("It changes nothing.").waitFor()
            const more = dialog.locator("details")
            if ((await more.getAttribute("open")) === null) await more.getByText("More").click()
          }
          const save = () => dialog.getByRole("button", { name: "Save" }).click()
          await edit()
          assert.match(
            (await dialog.textContent()) ?? "",
            /More.*Quiet hours.*Quiet if milder than.*Zone of quiet hours/,
          )
          assert.strictEqual(
            await dialog.getByRole("combobox", { name: "Quiet if milder than" }).inputValue(),
            "critical",
          )
          await field("Quiet hours").fill("23:00-06:00")
          await dialog.getByText("It notifies nobody at once.").waitFor()
          assert.deepStrictEqual(await flawsOf(page), [])
          await save()
          await page.getByText("Saved ann", { exact: true }).waitFor()
          assert.strictEqual(await stored(), QUIET.replace("22:00-07:00", "23:00-06:00"))

          await edit()
          await field("Zone of quiet hours").fill("Europe/Berlin")
          await put(QUIET)
          await dialog.getByText(/^Somebody changed this entry meanwhile/).waitFor()
          await save()
          await dialog.getByRole("alert").getByText("Somebody changed this entry meanwhile").waitFor()
          assert.strictEqual(await field("Zone of quiet hours").inputValue(), "Europe/Berlin")
          await save()
          await page.getByText("Saved ann", { exact: true }).waitFor()
          await dialog.waitFor({ state: "detached" })

          await edit()
          await field("Quiet hours").fill("21:00-06:00")
          await put("receivers:\n  hook: { kind: debug }\n")
          await dialog.getByText(/^Somebody removed this entry meanwhile/).waitFor()
          await save()
          await dialog.getByRole("alert").getByText("Somebody removed this entry meanwhile").waitFor()
          await save()
          await page.getByText("Saved ann", { exact: true }).waitFor()
          assert.match((await stored()) ?? "", /^ {2}ann: .*21:00-06:00.*sat.*Europe\/Berlin/m)

          // One mail server is for all receivers, which then need an address alone.
          await page.getByRole("button", { name: "Share a mail server" }).click()
          const server = page.getByRole("dialog", { name: "The mail server" })
          await server.getByLabel("Mail server").fill("mail.example.org")
          await server.getByLabel("Password").fill("word")
          await server.getByLabel("User").fill("ops")
          await server.getByRole("button", { name: "Save" }).click()
          await server.getByRole("alert").getByText("From is missing.").waitFor()
          await server.getByLabel("From").fill("tocsin@example.org")
          assert.deepStrictEqual(await flawsOf(page), [])
          await server.getByRole("button", { name: "Save" }).click()
          await page.getByText("Mails are from tocsin@example.org").waitFor()
          assert.match(
            (await stored()) ?? "",
            /^mail: \{ ?secrets: mail_server, from: tocsin@example\.org ?\}$/m,
          )
          await page.getByRole("textbox", { name: "To", exact: true }).fill("kim@example.org")
          await page.getByRole("button", { name: "Save" }).click()
          await page.getByText("Saved email", { exact: true }).waitFor()
          await page.getByRole("button", { name: "Change the mail server" }).click()
          // All of its address is written again, or none.
          await server.getByLabel("Password").fill("other")
          await server.getByRole("button", { name: "Save" }).click()
          await server.getByRole("alert").getByText("Mail server is missing.").waitFor()
          await server.getByLabel("Password").fill("")
          await server.getByLabel("From").fill("ops@example.org")
          await server.getByRole("button", { name: "Save" }).click()
          await page.getByText("Mails are from ops@example.org").waitFor()
          assert.match(
            (await stored()) ?? "",
            /^mail: \{ ?secrets: mail_server, from: ops@example\.org ?\}$/m,
          )
          assert.deepStrictEqual(faults, [])
        })
      }),
    )
  })
})

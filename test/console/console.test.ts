import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { agentHost } from "../agent/AgentProcess.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { Site, startService } from "./Site.ts"

const HOSTILE = `<img src=x onerror="document.title='owned'">`

const DAY = 86_400_000
/** A computer's clock that is three hours behind. */
const SLOW_CLOCK = "const { now } = Date; Date.now = () => now() - 10_800_000"

/** In every zone, its morning has not come. */
const LATER = new Date(performance.timeOrigin + performance.now() + 2 * DAY).toISOString().slice(0, 10)

const down = (check_id: string) => ({ check_id, status: "critical", output: `${check_id} is down` }) as const

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined)(`the console${skipped}`, () => {
  layer(shared, { excludeTestServices: true })((it) => {
    it.effect("leads from the sign-in by the first run to a noted, acknowledged, silenced incident", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService()
        const context = yield* openContext
        const { page, faults, origins } = yield* Effect.promise(() => openConsole(context, baseUrl))
        const shown = yield* Effect.promise(async () => {
          await page.getByLabel("Token").fill("wrong")
          await page.getByRole("button", { name: "Sign in" }).click()
          await page.getByRole("alert").waitFor()
          await signIn(page)
          await page.getByRole("link", { name: "A host", exact: true }).click()
          await page.getByText(`TOCSIN_URL='${baseUrl}'`).waitFor({ state: "attached" })
          return (await page.getByText("mkdir -p data/agent").textContent()) ?? ""
        })
        const host = agentHost(join(yield* scratchFolder, "agent"))
        host.configure(`${/echo '([^']*)' > data\/agent\/config\.yaml/.exec(shown)?.[1]}\n`)
        const agent = yield* host.start
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Accept" }).click()
          await page.getByText("Accepted 1 agent").waitFor()
        })
        yield* agent.kill("SIGKILL")
        yield* Effect.promise(async () => {
          await demo.heartbeat("web-1", { hostname: HOSTILE, labels: { team: HOSTILE } })
          await demo.call("POST", "api/v1/agents/web-1/accept")
          await demo.report("web-1", [
            { check_id: "load", status: "warning", output: "LOAD WARNING" },
            { check_id: "disk", status: "critical", output: HOSTILE },
          ])
          await page.getByRole("link", { name: "Incidents", exact: true }).click()
          const worst = page.getByRole("link", { name: HOSTILE })
          await worst.waitFor()
          const rows = page.getByRole("list", { name: "Incidents" })
          await rows.getByText("debug").first().waitFor()
          assert.deepStrictEqual(await rows.getByRole("link").allTextContents(), [
            "web-1/disk",
            HOSTILE,
            "web-1/load",
            "LOAD WARNING",
          ])

          await worst.click()
          await page.getByRole("heading", { name: "web-1/disk" }).waitFor()
          await page.getByLabel("Note").fill(HOSTILE)
          await page.getByRole("button", { name: "Add note" }).click()
          await page.getByText(`noted: ${HOSTILE}`).waitFor()
          await page.getByLabel("Note").fill("I look")
          await page.getByRole("combobox").selectOption("2h")
          await page.getByRole("button", { name: "Acknowledge" }).click()
          await page.getByText(/has acknowledged it until .*: I look$/).waitFor()
          await page.getByText(/^\d+ open, (all|\d+ not) acknowledged · \d+ alive$/).waitFor()
          await page.getByRole("button", { name: "Undo" }).click()
          await page.getByText(/has acknowledged it/).waitFor({ state: "detached" })

          const address = page.url()
          await page.getByRole("button", { name: "Silence" }).click()
          await page
            .getByRole("status")
            .getByText(/^It covers 1 open incident(?! and)/)
            .waitFor()
          await page.getByLabel("Comment").fill(HOSTILE)
          await page.getByRole("button", { name: "Silence", exact: true }).click()
          const silences = page.getByRole("list", { name: "Silences" })
          await silences.getByText(HOSTILE).waitFor()
          await silences.getByRole("button", { name: "Extend 1 h" }).click()
          await page.getByText("Extended the silence by 1 h").waitFor()
          await silences.getByRole("button", { name: "End", exact: true }).click()
          await silences.getByText("expired").waitFor()
          await page.getByRole("button", { name: "Undo" }).click()
          await silences.getByText("active").waitFor()

          await page.goto(address)
          await page.getByRole("button", { name: "Sign out" }).click()
          await signIn(page)
          await page.getByRole("heading", { name: "web-1/disk" }).waitFor()
          assert.strictEqual(page.url(), address)
          await page
            .getByText(/ silenced it until .*: /)
            .first()
            .waitFor()
          await page.getByText(/ ended the silence$/).waitFor()
          await page.getByText(/ acknowledged it until .*: I look/).waitFor()
          for (const name of ["agents/web-1", "checks/web-1/disk", "checks?view=grid", "outbox", "audit"]) {
            await page.goto(`${baseUrl}/#/${name}`)
            await page.getByRole("heading", { level: 1 }).waitFor()
          }
          await page.getByText("created silence").first().waitFor()
          assert.notInclude(await page.title(), "owned")
          assert.deepStrictEqual(faults, [])
          assert.deepStrictEqual(Array.from(origins), [baseUrl])
        })
      }),
    )

    it.effect("selects, acknowledges and undoes by keys, and shows acts to others who may only read", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const [here, there] = [yield* openContext, yield* openContext]
        yield* Effect.promise(async () => {
          await demo.join("host-keys")
          await demo.report("host-keys", ["a", "b", "c"].map(down))
          const token = await demo.addOperator("eve", "read")
          const mine = `${baseUrl}/#/incidents?filter=host-keys`
          const { page } = await openConsole(here, mine)
          await there.addInitScript(SLOW_CLOCK)
          const { page: other } = await openConsole(there, mine)
          await signIn(page)
          await signIn(other, token)
          await page.getByRole("link", { name: "a is down" }).waitFor()
          for (const key of ["j", "x", "/"]) await page.keyboard.press(key)
          await page.locator("[type=search]:focus").press("Escape")
          for (const key of ["j", "j", "j", "X"]) await page.keyboard.press(key)
          await page.getByRole("status").getByText("3 selected").waitFor()
          await page.reload()
          await page.getByRole("status").getByText("3 selected").waitFor()
          await page.keyboard.press("s")
          await page.getByText(/^It covers 3 open incidents(?! and)/).waitFor()
          await page.getByLabel("Comment").fill("All three at once")
          // The page sends an act once more whose answer is lost.
          let creations = 0
          await page.route("**/ops/v1/silences", (asked) =>
            asked.request().method() === "POST" && [2, 3].includes((creations += 1))
              ? asked.fulfill({ status: 503 })
              : asked.continue(),
          )
          await page.getByRole("button", { name: "Silence", exact: true }).click()
          await page.getByRole("alert").getByText("Created 1 silence, then the server is").waitFor()
          const left = page.getByRole("list", { name: "To be silenced" })
          assert.strictEqual(await left.getByRole("listitem").count(), 2)
          await page.getByRole("button", { name: "Silence", exact: true }).click()
          await page.getByText("Created 2 silences").waitFor()
          await page.unroute("**/ops/v1/silences")
          await page.getByRole("button", { name: "Undo" }).click()
          await page.getByText("Undone").waitFor()

          await page.goto(`${baseUrl}/#/agents/host-keys`)
          await page.getByRole("button", { name: "Silence", exact: true }).click()
          await page.getByRole("status").getByText("It covers 3 open incidents and 1 agent").waitFor()
          const matchers = page.getByLabel("Checks")
          assert.strictEqual(await matchers.inputValue(), "agent_id = host-keys")
          // Of a few agents, more than half are not many.
          for (let index = 0; index < 10; index += 1) await demo.join(`host-many-${index}`)
          await matchers.fill("check_id = nothing")
          await page.getByText(/^It covers 0 open incidents Nothing matches now/).waitFor()
          await matchers.fill("agent_id = nothing")
          await page.getByText(/0 agents Nothing matches now/).waitFor()
          await matchers.fill("agent_id glob host-*")
          await page.getByText("More", { exact: true }).click()
          await page.getByLabel("Starts").fill(`${LATER}T10:00`)
          await page
            .getByText(/^If it began now, it would cover \d+ open incidents? and \d+ agents$/)
            .waitFor()
          await page.getByLabel("For").fill("11:30")
          await page.getByText(/^Ends .*11:30.*Still missing: a comment/).waitFor()
          await page.getByLabel("Comment").fill("The move to the other site")
          await page.getByRole("button", { name: "Silence", exact: true }).click()
          await page.getByRole("dialog").getByText("more than half of all").waitFor()
          await page.getByRole("button", { name: "Silence them all" }).click()
          await page.getByText("Created 1 silence").waitFor()
          await page.getByRole("link", { name: "Scheduled" }).click()
          const scheduled = page.getByRole("list", { name: "Silences" })
          await scheduled.getByText("starts in ").waitFor()
          await scheduled.getByText(/10:00.* – 11:30/).waitFor()
          await scheduled.getByRole("button", { name: "Extend 1 h" }).click()
          await page.getByText("Extended the silence by 1 h").waitFor()
          await scheduled.getByRole("button", { name: "End", exact: true }).click()
          await page.getByText("No silence is scheduled").waitFor()
          const times = page.getByRole("list", { name: "Next times of nightly" })
          assert.strictEqual(await times.getByRole("listitem").count(), 5)
          await page.goto(mine)
          await page.getByRole("heading", { name: "Incidents" }).waitFor()

          await page.keyboard.press("?")
          await page.getByRole("dialog", { name: "Shortcuts" }).getByText("all rows up to it").waitFor()
          await page.keyboard.press("Escape")
          await page.getByRole("dialog", { name: "Shortcuts" }).waitFor({ state: "detached" })
          await page.getByRole("link", { name: "b is down" }).waitFor()
          await page.keyboard.press("j")
          await page.keyboard.press("n")
          await page.locator("textarea:focus").fill("by key")
          await page.keyboard.press("Escape")
          await page.keyboard.press("e")
          await page.locator(".explanation:focus").getByText("Open because").waitFor()
          await page.keyboard.press("Escape")
          await page.getByRole("heading", { name: "Incidents" }).waitFor()
          assert.strictEqual(page.url(), mine)

          await other.getByRole("link", { name: "a is down" }).waitFor()
          await other.locator("time", { hasText: " ago" }).first().waitFor()
          await page.getByRole("link", { name: "a is down" }).waitFor()
          await page.keyboard.press("j")
          await page.keyboard.press("a")
          await page.getByText("Acknowledged 1 incident").waitFor()
          // It is offered for ten seconds, in which the other page may not have read.
          const withdrawn = page.waitForResponse((answer) => answer.request().method() === "DELETE")
          await page.getByRole("button", { name: "Undo" }).click()
          await withdrawn
          await page.getByText(/has it$/).waitFor({ state: "detached" })
          // Two lists are read, and the keys move in the first.
          const free = page.getByRole("list", { name: "Incidents", exact: true })
          await free.getByRole("link", { name: "a is down" }).waitFor()
          for (const key of ["j", "a"]) await page.keyboard.press(key)
          await other.getByText(/has it$/).waitFor()

          // The lists are read one after the other: for a moment both may have what was undone.
          await other.getByRole("link", { name: "b is down" }).first().click()
          await other.getByText("Open because").waitFor()
          for (const name of ["Acknowledge", "Silence", "Add note"])
            assert.strictEqual(await other.getByRole("button", { name }).count(), 0, name)
          await demo.call("PATCH", "ops/v1/operators/eve", { role: "respond" })
          await other.getByRole("button", { name: "Acknowledge" }).waitFor()
          const address = other.url()
          // A busy machine takes a while to send it.
          const expires_at = new Date(performance.timeOrigin + performance.now() + 5_000).toISOString()
          await demo.call("PATCH", "ops/v1/operators/eve", { expires_at })
          await other.getByRole("alert").getByText("no longer valid").waitFor()
          await signIn(other)
          await other.getByRole("heading", { name: "host-keys/b" }).waitFor()
          assert.strictEqual(other.url(), address)
        })
      }),
    )

    it.effect("admits, blocks, unblocks and deletes, and asks before it does much", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-kept")
          await demo.report("host-kept", [{ check_id: "disk", status: "ok", output: "DISK OK" }])
          for (const id of ["host-1", "host-2", "host-3", "host-4", "host-5"]) await demo.heartbeat(id)
          await demo.heartbeat("host-kept", { key: "another-key-of-host-kept-0123456789" })
          const { page } = await openConsole(context, `${baseUrl}/#/admission`)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          await signIn(page)
          await page.getByText("new key").waitFor()
          await page.getByLabel("Select host-1").check()
          await page.getByLabel("Select host-2").click({ modifiers: ["Shift"] })
          await page.getByRole("status").getByText("2 selected").waitFor()
          const block = page.getByRole("button", { name: "Block selected" })
          for (const leave of [() => page.keyboard.press("Escape"), () => click("Cancel")]) {
            await block.click()
            await page
              .getByRole("dialog")
              .getByText("This deletes 2 agents with all checks and their history.")
              .waitFor()
            await leave()
            await page.getByRole("dialog").waitFor({ state: "detached" })
            await page.locator(":focus", { hasText: "Block selected" }).waitFor()
          }
          await page.getByRole("status").getByText("2 selected").waitFor()
          await click("Block selected")
          await click("Block and delete")
          await page.getByText("Blocked 2 keys").waitFor()
          await page.getByLabel("Select host-1").waitFor({ state: "detached" })
          await click("Accept all")
          await page.getByRole("dialog").getByText("Accept all 3 waiting agents?").waitFor()
          await click("Accept them all")
          await page.getByText("Accepted 3 agents").waitFor()
          await page.getByLabel("Select host-3").waitFor({ state: "detached" })
          await click("Accept")
          await page.getByText("No key is waiting").waitFor()
          await page.getByText("Blocked keys").first().click()
          const blocked = page.getByRole("list", { name: "Blocked keys" })
          await blocked.getByRole("button", { name: "Unblock" }).first().click()
          await page.getByText("Unblocked the key").waitFor()

          await page.goto(`${baseUrl}/#/agents/host-3`)
          await click("Block")
          await page
            .getByRole("dialog")
            .getByText("This deletes host-3 with all checks and their history.")
            .waitFor()
          await click("Block and delete")
          await page.getByText("Blocked 1 key").waitFor()
          await page.goto(`${baseUrl}/#/checks/host-kept/disk`)
          await click("Reset clock")
          await page.getByText("Reset the clock").waitFor()
          await click("Delete")
          await click("Delete the check")
          await page.getByText("Deleted host-kept/disk").waitFor()
          await page.getByText("It has reported no check yet").waitFor()
          await click("Delete")
          await page.getByRole("dialog").waitFor()
          await page.goto(`${baseUrl}/#/agents/host-4`)
          await page.getByRole("dialog").waitFor({ state: "detached" })
          await page.goto(`${baseUrl}/#/agents/host-kept`)
          await click("Delete")
          await click("Delete the agent")
          await page.getByText("Deleted host-kept").first().waitFor()
          await page.getByRole("heading", { name: "Agents" }).waitFor()
          await page.getByRole("link", { name: "host-4" }).waitFor()
          assert.strictEqual(await page.getByRole("link", { name: "host-kept" }).count(), 0)
        })
      }),
    )

    it.effect("releases, replays and tests notifications; creates, rotates and removes operators", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          for (const id of ["paged-1", "paged-2", "held-1"]) {
            await demo.join(id)
            await demo.report(id, [{ check_id: "disk", status: "critical", output: `${id} is full` }])
          }
          const quiet = { check_id: "quiet", status: "warning", output: "nobody knows" } as const
          await demo.report("held-1", [{ ...quiet, notifications_enabled: false }])
          const { page } = await openConsole(context, `${baseUrl}/#/incidents?filter=nobody`)
          const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
          await signIn(page)
          await page.getByText("nobody notified").waitFor()
          await page.getByRole("link", { name: "nobody knows" }).click()
          await page.getByText("with notifications disabled").waitFor()
          await page.goto(`${baseUrl}/#/outbox?tab=held`)
          await page.getByText("Nothing is held").waitFor({ state: "detached" })
          await click("Release")
          await page.getByText("Released the notification").waitFor()
          await page.getByText("Nothing is held").waitFor()
          await page.getByRole("link", { name: "Failed" }).click()
          await page.getByText("paged-1/disk · paged-1 is full").waitFor()
          await page.getByTitle("2 failed notifications").waitFor()
          await page.getByRole("button", { name: "Replay", exact: true }).first().click()
          await page.getByText("Replayed the notification").waitFor()
          await page.getByRole("link", { name: "All", exact: true }).click()
          await click("Replay all failed")
          await page.getByText("no silence and no acknowledgement holds it").waitFor()
          await click("Replay all 1 now")
          await page.getByText("Replayed 1 notification: 1 sent").waitFor()
          await page.getByRole("link", { name: "Failed" }).click()
          await page.getByText("Nothing has failed").waitFor()
          await page.getByRole("link", { name: "Sent", exact: true }).click()
          await page.getByRole("link", { name: "firing to pager" }).first().click()
          await page.getByText("replayed the notification to pager (opened), which had failed").waitFor()

          await page.goto(`${baseUrl}/#/receivers`)
          const receivers = page.getByRole("list", { name: "Receivers" })
          await receivers.getByTitle("Send a test message to log").click()
          await page.getByText("log: the test was delivered").waitFor()
          await receivers.getByText("the test was delivered").waitFor()
          await page.goto(`${baseUrl}/#/system`)
          await page.getByRole("list", { name: "Servers" }).getByText("notifies log, pager").waitFor()
          await page.getByText("same").waitFor()

          await page.getByRole("link", { name: "Operators", exact: true }).click()
          await page.getByLabel("Name").fill("Ночь")
          await click("Create operator")
          await page.getByRole("alert").waitFor()
          await page.getByLabel("Name").fill("kim")
          await page.getByLabel("Role").selectOption("respond")
          await click("Create operator")
          const token = (await page.getByText(/^tocsin_/).textContent()) ?? ""
          await click("Done")
          assert.strictEqual(await page.getByText(token).count(), 0)
          const kim = page.locator('[data-id="kim"]')
          await kim.getByRole("button", { name: "Rotate" }).click()
          await page.getByText("Rotated the token of kim").waitFor()
          assert.notStrictEqual(await page.getByText(/^tocsin_/).textContent(), token)
          await kim.getByRole("button", { name: "Change" }).click()
          await page.getByLabel("Role").selectOption("admin")
          await page.getByLabel("Expires, if ever").fill("2001-01-01T08:00")
          await click("Save")
          await page.getByText("expires_at must be in the future").first().waitFor()
          await page.getByLabel("Expires, if ever").fill("2099-01-01T08:00")
          await click("Save")
          await page.getByText("Changed kim").waitFor()
          await kim.getByText("admin").waitFor()
          await kim.getByText("expires").waitFor()
          await kim.getByRole("button", { name: "Remove" }).click()
          await click("Remove the operator")
          await kim.waitFor({ state: "detached" })
        })
      }),
    )
  })
})

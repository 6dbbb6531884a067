import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { chromium, openBrowser, openConsole, signIn, violationsOf } from "./Console.ts"
import { DemoClient } from "./demo.ts"

const reason = chromium === undefined ? " (skipped: there is no Chromium here; TEST_CHROMIUM names one)" : ""

const HOSTILE = `<img src=x onerror="document.title='owned'">`

const startService = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>> = {}) {
  const server = yield* startServer({
    cwd: yield* scratchFolder,
    environment: {
      SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      SERVICE_LOG_LEVEL: "info",
      DATABASE_URL: "memory:",
      ...environment,
    },
  })
  return { ...server, demo: new DemoClient(server.baseUrl) }
})

/** Keys and names of the pages whose heading is their link. */
const PAGES = [
  ["i", "Incidents"],
  ["a", "Agents"],
  ["d", "Admission"],
  ["c", "Checks"],
  ["s", "Silences"],
  ["o", "Outbox"],
  ["u", "Audit"],
  ["p", "Operators"],
  ["y", "System"],
] as const

/** Each theme and each width once: what depends on both together is only where things stand. */
const VIEWS = [
  ["light", 360],
  ["dark", 768],
  ["light", 1440],
] as const

describe.skipIf(chromium === undefined)(`the console${reason}`, { timeout: 240_000 }, () => {
  it.live("leads from the sign-in by the first run to a noted, acknowledged, silenced incident", () =>
    Effect.gen(function* () {
      const { baseUrl, demo } = yield* startService()
      const context = yield* openBrowser
      yield* Effect.promise(async () => {
        const { page, faults, origins } = await openConsole(context, baseUrl)
        await page.getByLabel("Token").fill("wrong")
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("alert").waitFor()
        await signIn(page)

        await page.getByText(`TOCSIN_URL='${baseUrl}'`).waitFor()
        await demo.heartbeat("web-1", { hostname: HOSTILE, labels: { team: HOSTILE } })
        await page.getByRole("button", { name: "Accept" }).click()
        await page.getByText("Accepted 1 agent").waitFor()

        await demo.report("web-1", [
          { check_id: "load", status: "warning", output: "LOAD WARNING" },
          { check_id: "disk", status: "critical", output: HOSTILE },
        ])
        const worst = page.getByRole("link", { name: HOSTILE })
        await worst.waitFor()
        const rows = page.getByRole("list", { name: "Incidents" })
        await rows.getByText("debug").first().waitFor()
        assert.deepStrictEqual(await rows.getByRole("link").allTextContents(), [HOSTILE, "LOAD WARNING"])

        await worst.click()
        await page.getByRole("heading", { name: HOSTILE }).waitFor()
        await page.getByLabel("Note").fill(HOSTILE)
        await page.getByRole("button", { name: "Add note" }).click()
        await page.getByText(`noted: ${HOSTILE}`).waitFor()
        await page.getByRole("button", { name: "Acknowledge" }).click()
        await page.getByText(/has acknowledged it/).waitFor()
        await page.getByRole("button", { name: "Undo" }).click()
        await page.getByText(/has acknowledged it/).waitFor({ state: "detached" })

        const address = page.url()
        await page.getByRole("button", { name: "Silence" }).click()
        await page.getByRole("status").getByText("1 incident, 1 agent").waitFor()
        await page.getByLabel("Comment").fill(HOSTILE)
        await page.getByRole("button", { name: "Silence" }).click()
        const silences = page.getByRole("list", { name: "Silences" })
        await silences.getByText(HOSTILE).waitFor()
        await silences.getByRole("button", { name: "Extend" }).click()
        await page.getByText("Extended the silence by 1 h").waitFor()
        await silences.getByRole("button", { name: "Expire" }).click()
        await silences.getByText("expired").waitFor()

        await page.goto(address)
        await page.getByRole("button", { name: "Sign out" }).click()
        await signIn(page)
        await page.getByRole("heading", { name: HOSTILE }).waitFor()
        assert.strictEqual(page.url(), address)
        for (const name of ["agents/web-1", "checks/web-1/disk", "checks?view=grid", "outbox", "audit"]) {
          await page.goto(`${baseUrl}/#/${name}`)
          await page.getByRole("heading", { level: 1 }).waitFor()
        }
        await page.getByText("silence.created").first().waitFor()
        assert.notInclude(await page.title(), "owned")
        assert.deepStrictEqual(faults, [])
        assert.deepStrictEqual(Array.from(origins), [baseUrl])
      })
    }),
  )

  it.live("has every page by link and by key, accessible in light and dark at every width", () =>
    Effect.gen(function* () {
      const { baseUrl, demo } = yield* startService()
      const context = yield* openBrowser
      yield* Effect.promise(async () => {
        await demo.join("web-1", { env: "prod" })
        await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "DISK CRITICAL" }])
        await demo.heartbeat("web-2")
        await demo.call("POST", "ops/v1/operators", { name: "kim", role: "respond" })
        const { page, faults } = await openConsole(context, baseUrl)
        const found: Array<string> = []
        const examine = async (name: string): Promise<void> => {
          for (const [colorScheme, width] of VIEWS) {
            // A colour that is still changing is none of the design.
            await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
            await page.setViewportSize({ width, height: 900 })
            for (const violation of await violationsOf(page))
              found.push(`${name} ${colorScheme} ${width}: ${violation}`)
          }
        }
        await examine("sign-in")
        await signIn(page)
        for (const [key, name] of PAGES) {
          await page.getByRole("link", { name: "System", exact: true }).click()
          await page.keyboard.press("g")
          await page.keyboard.press(key)
          await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor()
          await page.getByRole("link", { name, exact: true }).click()
          await page.locator(".loading").first().waitFor({ state: "detached" })
          await examine(name)
        }
        await page.getByRole("link", { name: "Incidents", exact: true }).click()
        await page.getByRole("link", { name: "DISK CRITICAL" }).click()
        await page.getByText("It is open because").waitFor()
        await examine("an incident")
        for (const address of ["agents/web-1", "checks/web-1/disk", "checks?view=grid", "nowhere"]) {
          await page.goto(`${baseUrl}/#/${address}`)
          await page.locator(".loading").first().waitFor({ state: "detached" })
          await examine(address)
        }
        assert.deepStrictEqual(found, [])
        assert.deepStrictEqual(faults, [])
      })
    }),
  )

  it.live(
    "selects, acknowledges and undoes by keys, keeps its state in the address, and shows acts elsewhere",
    () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startService()
        const [here, there] = [yield* openBrowser, yield* openBrowser]
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          await demo.report(
            "web-1",
            ["a", "b", "c"].map((check_id) => ({
              check_id,
              status: "critical",
              output: `${check_id} is down`,
            })),
          )
          const { token } = (await demo.call("POST", "ops/v1/operators", { name: "eve", role: "read" })) as {
            readonly token: string
          }
          const { page } = await openConsole(here, baseUrl)
          const { page: other } = await openConsole(there, baseUrl)
          await signIn(page)
          await signIn(other, token)
          await page.getByRole("link", { name: "a is down" }).waitFor()
          for (const key of ["j", "x", "j", "j", "X"]) await page.keyboard.press(key)
          await page.getByRole("status").getByText("3 selected").waitFor()
          await page.reload()
          await page.getByRole("status").getByText("3 selected").waitFor()
          await page.keyboard.press("Escape")
          await page.getByRole("status").waitFor({ state: "detached" })

          await other.getByRole("link", { name: "a is down" }).waitFor()
          await page.keyboard.press("j")
          await page.keyboard.press("a")
          await other.getByText(/has it$/).waitFor({ timeout: 20_000 })
          await page.getByRole("button", { name: "Undo" }).click()
          await other.getByText(/has it$/).waitFor({ state: "detached" })

          await other.getByRole("link", { name: "b is down" }).click()
          await other.getByText("It is open because").waitFor()
          for (const name of ["Acknowledge", "Silence", "Add note"])
            assert.strictEqual(await other.getByRole("button", { name }).count(), 0, name)
          await demo.call("DELETE", "ops/v1/operators/eve")
          await other.getByLabel("Token").waitFor()
          await other.getByRole("alert").getByText("no longer valid").waitFor()
        })
      }),
  )

  it.live("admits, creates operators whose token shows once, and asks before it removes", () =>
    Effect.gen(function* () {
      const { baseUrl, demo } = yield* startService()
      const context = yield* openBrowser
      yield* Effect.promise(async () => {
        await demo.join("web-1")
        for (const id of ["new-1", "new-2", "new-3"]) await demo.heartbeat(id)
        const { page } = await openConsole(context, baseUrl)
        await signIn(page)
        await page.getByRole("link", { name: "Admission", exact: true }).click()
        await page.getByLabel("Select new-1").check()
        await page.getByLabel("Select new-2").check()
        await page.getByRole("status").getByText("2 selected").waitFor()
        await page.getByRole("button", { name: "Block selected" }).click()
        await page.getByRole("dialog").getByText("Block 2 keys?").waitFor()
        await page.getByRole("button", { name: "Block 2 keys now" }).click()
        await page.getByText("Blocked 2 keys").waitFor()
        await page.getByLabel("Select new-1").waitFor({ state: "detached" })
        await page.getByRole("button", { name: "Accept", exact: true }).click()
        await page.getByText("No key is waiting").waitFor()

        await page.getByRole("link", { name: "Operators", exact: true }).click()
        await page.getByLabel("Name").fill("Not A Name")
        await page.getByRole("button", { name: "Create operator" }).click()
        await page.getByRole("alert").waitFor()
        await page.getByLabel("Name").fill("kim")
        await page.getByLabel("Role").selectOption("respond")
        await page.getByRole("button", { name: "Create operator" }).click()
        const token = (await page.getByText(/^tocsin_/).textContent()) ?? ""
        await page.getByRole("button", { name: "Done" }).click()
        assert.strictEqual(await page.getByText(token).count(), 0)
        await page.getByRole("list", { name: "Operators" }).getByRole("button", { name: "Remove" }).click()
        await page.getByRole("button", { name: "Remove the operator" }).click()
        await page.getByText("No named operators yet").waitFor()
      })
    }),
  )

  it.live("says within 10 s that the server is lost, and goes on when it is back", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_LOG_LEVEL: "info" }
      const first = yield* startServer({ cwd, environment })
      const demo = new DemoClient(first.baseUrl)
      yield* Effect.promise(async () => {
        await demo.join("web-1")
        await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "DISK CRITICAL" }])
      })
      const context = yield* openBrowser
      const { page } = yield* Effect.promise(() => openConsole(context, first.baseUrl))
      yield* Effect.promise(async () => {
        await signIn(page)
        await page.getByRole("link", { name: "DISK CRITICAL" }).waitFor()
      })
      yield* first.kill
      yield* Effect.promise(() => page.getByText("Connection lost.").waitFor({ timeout: 10_000 }))
      yield* startServer({ cwd, environment: { ...environment, SERVICE_PORT: String(first.port) } })
      yield* Effect.promise(() => page.getByText("Connection lost.").waitFor({ state: "detached" }))
    }),
  )

  it.live("is off on request, and follows a trusted prefix of a proxy", () =>
    Effect.gen(function* () {
      const off = yield* startService({ SERVICE_CONSOLE: "off" })
      const behind = yield* startService({ SERVICE_TRUST_PROXY: "1" })
      yield* Effect.promise(async () => {
        const headers = { accept: "text/html", "x-forwarded-prefix": "/watch" }
        const former = await (await fetch(off.baseUrl, { headers })).text()
        assert.notInclude(former, "console/app.js")
        assert.strictEqual((await fetch(`${off.baseUrl}/console/app.js`)).status, 404)
        assert.include(await (await fetch(behind.baseUrl, { headers })).text(), 'src="/watch/console/app.js')
        const answer = await fetch(behind.baseUrl, {
          headers: { ...headers, "x-forwarded-prefix": '"><script>' },
        })
        assert.include(await answer.text(), 'src="console/app.js')
        assert.strictEqual(
          answer.headers.get("content-security-policy"),
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        )
        const { service } = (await (await fetch(behind.baseUrl)).json()) as { readonly service: string }
        assert.strictEqual(service, "tocsin")
      })
    }),
  )
})

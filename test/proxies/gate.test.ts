import { assert, describe, layer } from "@effect/vitest"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import type { BrowserContext, Page } from "playwright-core"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { Browser, enterToken, openConsole, openNewContext, signIn } from "../console/Console.ts"
import { startService } from "../console/Site.ts"
import { lacking } from "../../scripts/programs.mjs"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { proxyKinds, startProxy } from "./Proxy.ts"

const [nginx] = proxyKinds

/** A gate as docs/install/proxies.md describes: its cookie, or its password, comes before the console. */
const startGate = Effect.fnUntraced(function* (rules: (upstream: string) => string) {
  const { demo, port: upstreamPort } = yield* startService()
  const port = yield* Effect.promise(freePort)
  const upstream = `http://127.0.0.1:${upstreamPort}`
  if (nginx === undefined) return assert.fail("no nginx")
  yield* startProxy(nginx, upstreamPort, `server { listen 127.0.0.1:${port}; ${rules(upstream)} }`)
  return { demo, origin: `http://127.0.0.1:${port}` }
})

const COOKIE_GATE = (upstream: string) => `
  location = /gate { internal; if ($cookie_gate = open) { return 204; } return 401; }
  location = /sign-in { add_header Set-Cookie "gate=open; Path=/; HttpOnly; SameSite=Lax"; return 302 /; }
  location @sign-in { return 302 /sign-in; }
  location / { auth_request /gate; error_page 401 = @sign-in; proxy_pass ${upstream}; proxy_buffering off; }
  location /api { proxy_pass ${upstream}; }`

/** The calls of the console have the token where the gate wants its password. */
const PASSWORD_GATE = (upstream: string) => `
  location / { if ($http_authorization = "") { add_header WWW-Authenticate 'Basic realm="gate"' always; return 401; }
    proxy_pass ${upstream}; }
  location /ops { add_header WWW-Authenticate 'Basic realm="gate"' always; return 401; }`

/** A prefix whose page is served without the slash at its end, as Apache's `ProxyPass /mon http://…` does. */
const BARE_PREFIX = (upstream: string) => `
  location = /mon { proxy_pass ${upstream}/; } location /mon/ { proxy_pass ${upstream}/; }`

const GATED = "A proxy before the server asks for a sign-in of its own"

const isKept = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>("sessionStorage.getItem('tocsin.token') !== null")

const openGate = (context: BrowserContext, origin: string) => openConsole(context, `${origin}/`)

describe.skipIf(lacking("nginx", "openssl", "chromium") !== undefined)(
  `the console behind a gate${skippedFor(lacking("nginx", "openssl", "chromium"))}`,
  () => {
    layer(Browser.layer, { excludeTestServices: true })((it) => {
      it.effect("of a cookie works, keeps its token while the gate is shut, and goes on after it", () =>
        Effect.gen(function* () {
          const { demo, origin } = yield* startGate(COOKIE_GATE)
          const context = yield* openNewContext
          yield* Effect.promise(async () => {
            await demo.join("host-1")
            const { page } = await openGate(context, origin)
            await signIn(page)
            await page.goto(`${origin}/#/agents`)
            await page.getByText("host-1.example").waitFor()
            await context.clearCookies()
            await page.getByText(GATED).waitFor()
            assert.isTrue(await isKept(page))
            await page.getByRole("button", { name: "Load the page again" }).click()
            await page.getByText("host-1.example").waitFor()
            await page.getByText(GATED).waitFor({ state: "detached" })
          })
        }),
      )

      it.effect("of a prefix without its slash says so, and with it loads the console", () =>
        Effect.gen(function* () {
          const { origin } = yield* startGate(BARE_PREFIX)
          const context = yield* openNewContext
          yield* Effect.promise(async () => {
            const { page } = await openConsole(context, `${origin}/mon`)
            await page.getByText("Does the address of this page end with a slash?").waitFor()
            await page.goto(`${origin}/mon/`)
            await page.getByLabel("Token").waitFor()
            assert.strictEqual(await page.locator("#waiting").count(), 0)
          })
        }),
      )

      it.effect("of a password before its calls says so, and asks the reader for no password", () =>
        Effect.gen(function* () {
          const { origin } = yield* startGate(PASSWORD_GATE)
          const browser = yield* Browser
          const context = yield* Effect.acquireRelease(
            Effect.promise(() => browser.newContext()),
            (opened) => Effect.promise(() => opened.close()),
          )
          yield* Effect.promise(async () => {
            const page = await context.newPage()
            let asked = 0
            const session = await context.newCDPSession(page)
            await session.send("Fetch.enable", { handleAuthRequests: true })
            session.on("Fetch.requestPaused", ({ requestId }) => {
              void session.send("Fetch.continueRequest", { requestId })
            })
            session.on("Fetch.authRequired", ({ requestId }) => {
              asked += 1
              const person = { username: "person", password: "password" }
              const authChallengeResponse = { response: "ProvideCredentials" as const, ...person }
              void session.send("Fetch.continueWithAuth", { requestId, authChallengeResponse })
            })
            await page.goto(origin)
            await enterToken(page, OPERATOR_TOKEN)
            await page.getByText("Signing in failed: a proxy before the server asks").waitFor()
            // For the page itself.
            assert.strictEqual(asked, 1)
          })
        }),
      )
    })
  },
)

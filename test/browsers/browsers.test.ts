import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import { rolldown } from "rolldown"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { walkConsole, walkShutConsole } from "./walkConsole.ts"
import { programs, type Tab } from "./WebDriver.ts"

const PAGE = fileURLToPath(new URL("page.ts", import.meta.url))

const bundlePage = Effect.promise(async () => {
  const bundle = await rolldown({ input: PAGE, platform: "browser", onwarn: () => {} })
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false })
  return output[0].code
})

interface Site {
  readonly origin: string
  /** The page's reports about its calls. */
  readonly outcomes: Effect.Effect<Readonly<Record<string, unknown>>>
}

/** A site of another origin with the page. */
const startSite = Effect.fnUntraced(function* (): Effect.fn.Return<Site, never, Scope.Scope> {
  const script = yield* bundlePage
  const told = Deferred.makeUnsafe<Readonly<Record<string, unknown>>>()
  const server = createServer((incoming, response) => {
    if (incoming.url === "/page.js") {
      return void response.writeHead(200, { "content-type": "text/javascript" }).end(script)
    }
    if (incoming.url !== "/outcomes") {
      const page = '<!doctype html><title>page</title><script type="module" src="/page.js"></script>'
      return void response.writeHead(200, { "content-type": "text/html" }).end(page)
    }
    let body = ""
    incoming.on("data", (part: Buffer) => (body += part.toString()))
    incoming.on("end", () => {
      response.end()
      Deferred.doneUnsafe(told, Effect.succeed(JSON.parse(body)))
    })
  })
  return yield* Effect.acquireRelease(
    Effect.callback<Site>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        // A server that listens on TCP has such an address.
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ origin: `http://localhost:${port}`, outcomes: Deferred.await(told) }))
      })
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      }),
  )
})

/** The tab that the tests of one browser share. */
class OpenTab extends Context.Service<OpenTab, Tab>()("test/browsers/OpenTab") {}

/** The outcomes of a site's page at a server that allows `origins`. */
const calling = Effect.fnUntraced(function* (originsOf: (site: Site) => string) {
  const tab = yield* OpenTab
  const site = yield* startSite()
  const { baseUrl } = yield* startServer({
    cwd: yield* scratchFolder,
    environment: {
      SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      DATABASE_URL: "memory:",
      SERVICE_ALLOWED_ORIGINS: originsOf(site),
    },
  })
  const query = new URLSearchParams({ api: baseUrl, token: OPERATOR_TOKEN })
  yield* Effect.promise(() => tab.go(`${site.origin}/?${query}`))
  return yield* Effect.timeout(site.outcomes, "10 minutes")
})

const readable = {
  agents: { items: [], next_cursor: null, prev_cursor: null },
  refused: { code: "unauthorized", status: 401, hasRequestId: true },
  absent: { code: "not_found", status: 404, hasRequestId: true },
  heartbeat: { accepted: false },
}
const unreadable = { code: "connection", hasRequestId: false }

for (const { name, missing, open, refusal } of programs) {
  // Each walks the console in every run. In the rest they are alike, and each takes another server or browser.
  const isSampled = name !== "Chromium" && !AT_LENGTH
  const others = isSampled ? unlessAtLength : ""
  describe.skipIf(missing !== undefined)(`${name}${skippedFor(missing)}`, () => {
    layer(Layer.effect(OpenTab, open()), { excludeTestServices: true, timeout: "5 minutes" })((it) => {
      it.effect.skipIf(isSampled)(
        `a page of an allowed origin can use the client, and read errors${others}`,
        () =>
          Effect.gen(function* () {
            assert.deepStrictEqual(
              yield* calling(({ origin }) => `https://other.example ${origin}`),
              readable,
            )
          }),
      )

      it.effect(
        "the console stays current by one stream, through reloads and losses, and gives it back",
        () => Effect.flatMap(OpenTab, walkConsole),
      )

      it.effect.skipIf(isSampled)(`a page of any other origin can read nothing${others}`, () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* calling(() => "https://other.example"), {
            agents: unreadable,
            refused: unreadable,
            absent: unreadable,
            heartbeat: unreadable,
          })
        }),
      )
    })

    it.live.skipIf(refusal !== undefined || isSampled)(
      `the console works where the browser keeps nothing, and says so${skippedFor(refusal) || others}`,
      () => Effect.flatMap(open(true), walkShutConsole),
    )
  })
}

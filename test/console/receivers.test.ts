import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startService } from "./Site.ts"

/** A receiver that takes connections and answers nothing. */
const startHanging = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(() => undefined)
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      }),
  ),
  // A server that listens on TCP has such an address.
  (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
)

describe.skipIf(chromium === undefined)(`a test message in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("to a receiver that hangs shows what came of it", () =>
      Effect.gen(function* () {
        const folder = yield* scratchFolder
        const file = (name: string, text: string): string => {
          writeFileSync(join(folder, name), text, { mode: 0o600 })
          return join(folder, name)
        }
        const url = file("url", yield* startHanging)
        const secret = file("secret", `whsec_${Buffer.alloc(32, 7).toString("base64")}`)
        const policy = `receivers: { hung: { kind: webhook, url_file: ${url}, secret_file: ${secret} } }\n`
        const { baseUrl } = yield* startService({ SERVICE_POLICY_FILE: file("policy.yaml", policy) })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/system`)
          await signIn(page)
          await page.getByTitle("Send a test message to hung").click()
          const notifiers = page.getByRole("list", { name: "Notifiers" })
          await notifiers.getByText("the test was deferred, The receiver did not answer within 15s").waitFor()
        })
      }),
    )
  })
})

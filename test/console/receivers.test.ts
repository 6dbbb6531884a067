import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { enroll, report } from "../processes/Agent.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { AT_LENGTH } from "../properties/atLength.ts"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startMonitor, startService } from "./Site.ts"

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

describe.skipIf(chromium === undefined)(`receivers in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("one that hangs: a test message shows what came of it", () =>
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

    it.effect("one that no server can use is named with its reason and the notifications that wait", () =>
      Effect.gen(function* () {
        const service = yield* startService({ SERVICE_SECRETS_DIR: yield* scratchFolder })
        const policy = "receivers: { pager: { kind: messenger, url_env: TOCSIN_SECRET_PAGER } }\n"
        yield* Effect.promise(() =>
          fetch(`${service.baseUrl}/ops/v1/policy?confirm=true`, {
            method: "PUT",
            headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
            body: policy,
          }),
        )
        const agent = yield* enroll(service, "web-1")
        yield* report(service, agent, { check_id: "disk", status: "critical" })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${service.baseUrl}/#/system`)
          await signIn(page)
          await page.getByText("The service is unwell: no server can use one of the receivers").waitFor()
          const notifiers = page.getByRole("list", { name: "Notifiers" })
          await notifiers.getByText("no server can use it: receivers.pager.url_env names").waitFor()
          await notifiers.getByText("1 notification waiting").waitFor()
        })
      }),
    )

    it.effect.skipIf(!AT_LENGTH)(
      "one that the policy gave up before its notification was due: the incident says so",
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo, monitor } = yield* startMonitor({
            policy: { receivers: { pager: { kind: "debug" } }, routes: [{ after: "1h", to: ["pager"] }] },
          })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            await demo.join("web-1")
            await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "disk is full" }])
            await monitor.setPolicy({})
            await monitor.advance("26h")
            const { page } = await openConsole(context, `${baseUrl}/#/incidents`)
            await signIn(page)
            await page.getByRole("link", { name: "disk is full" }).click()
            await page.getByText("Open because").waitFor()
            await page
              .getByText("pager was not notified: no replica had its receiver for 24 hours.")
              .waitFor()
          })
        }),
    )

    it.effect("one of a later step: the incident says when it comes next", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* startMonitor({
          policy: {
            receivers: { chat: { kind: "debug" }, pager: { kind: "debug" } },
            routes: [{ steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }],
          },
        })
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("web-1")
          await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "disk is full" }])
          const { page } = await openConsole(context, `${baseUrl}/#/incidents`)
          await signIn(page)
          await page.getByRole("link", { name: "disk is full" }).click()
          await page.getByText(/^Notified: chat: .*\d:\d\d.*, opened, critical\.$/).waitFor()
          await page.getByText(/^Next: pager: .*\d:\d\d.*, escalation\.$/).waitFor()
          await page
            .getByRole("list", { name: "Timeline" })
            .getByText(/^notifies pager: .*\d:\d\d.*, escalation$/)
            .waitFor()
        })
      }),
    )
  })
})

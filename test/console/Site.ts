import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Context, Effect, Layer } from "effect"
import { consoleFiles } from "tocsin/console"
import { createTestMonitor, type TestMonitorOptions } from "tocsin/testing"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { DemoClient } from "./demo.ts"
import { serve } from "./serve.ts"

/** Starts a server of its own for a test. */
export const startService = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>> = {}) {
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

/** A service whose clock the test moves, with the console. */
export const startMonitor = Effect.fnUntraced(function* (options: TestMonitorOptions = {}) {
  const monitor = yield* Effect.acquireRelease(
    Effect.promise(async () =>
      createTestMonitor({
        startAt: new Date(performance.timeOrigin + performance.now()).toISOString(),
        operatorTokens: [OPERATOR_TOKEN],
        console: await consoleFiles(),
        ...options,
      }),
    ),
    (opened) => Effect.promise(() => opened.close()),
  )
  const baseUrl = yield* serve(monitor.node)
  return { monitor, baseUrl, demo: new DemoClient(baseUrl) }
})

/** A receiver that refuses the first message of each incident for good, and takes the others. */
const startPager = Effect.suspend(() => {
  const refused = new Set<string>()
  return serve((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (part: string) => (body += part))
    request.on("end", () => {
      const { data } = JSON.parse(body) as {
        readonly data: { readonly incident: { readonly id: string } }
      }
      const isFirst = data.incident !== undefined && !refused.has(data.incident.id)
      if (isFirst) refused.add(data.incident.id)
      response.writeHead(isFirst ? 410 : 204).end()
    })
  })
})

/** The prefixes of agents' names decide who is notified of them, and when. */
const POLICY = `
receivers:
  log: { kind: debug }
  pager: { kind: webhook, url_file: pager, secret_file: secret }
routes:
  - { match: [ "agent_id glob paged-*" ], to: [pager] }
  - { match: [ "agent_id glob held-*" ], after: 1h, to: [log] }
  - { match: [ "agent_id glob host-*" ], to: [log] }
dependencies:
  - { parent: [ "check_id = uplink" ], child: [ "check_id = behind" ], equal: [agent_id] }
windows:
  - { name: nightly, cron: "0 2 * * *", tz: UTC, for: 1h, match: [ "check_id = backup" ] }
`

/** The server that the tests of one file share: each names agents of its own. */
export class Site extends Context.Service<Site, { readonly baseUrl: string; readonly demo: DemoClient }>()(
  "test/console/Site",
) {
  static readonly layer = Layer.effect(
    Site,
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      const file = (name: string, text: string): string => {
        writeFileSync(join(folder, name), text, { mode: 0o600 })
        return join(folder, name)
      }
      const pager = file("pager", yield* startPager)
      const secret = file("secret", `whsec_${Buffer.alloc(32, 7).toString("base64")}`)
      const policy = POLICY.replace("url_file: pager", `url_file: ${pager}`).replace(
        "secret_file: secret",
        `secret_file: ${secret}`,
      )
      return yield* startService({
        SERVICE_POLICY_FILE: file("policy.yaml", policy),
        SERVICE_TRUST_PROXY: "1",
      })
    }),
  )
}

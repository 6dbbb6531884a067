import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { secretOf } from "../processes/secrecy.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"

interface Heard {
  readonly line: string
  readonly body: string
}

interface Listener {
  readonly url: string
  readonly heard: ReadonlyArray<Heard>
}

/** A system that watchdog pings are sent to; its path is a secret. */
const startListener: Effect.Effect<Listener, never, Scope.Scope> = Effect.acquireRelease(
  Effect.callback<Listener & { readonly close: () => void }>((resume) => {
    const heard: Array<Heard> = []
    const server = createServer((incoming, response) => {
      let body = ""
      incoming.on("data", (part: Buffer) => (body += part.toString()))
      incoming.on("end", () => {
        heard.push({ line: `${incoming.method} ${incoming.url}`, body })
        response.end("OK")
      })
    })
    server.listen(0, "127.0.0.1", () => {
      // A server that listens on TCP has such an address.
      const { port } = server.address() as AddressInfo
      const close = () => {
        server.closeAllConnections()
        server.close()
      }
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}/${secretOf("ping")}`, heard, close }))
    })
  }),
  ({ close }) => Effect.sync(close),
)

const PING = `GET /${secretOf("ping")}`
const FAIL = `POST /${secretOf("ping")}/fail`

const beating = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>> = {}) {
  const { url, heard } = yield* startListener
  const server = yield* startServer({
    cwd: yield* scratchFolder,
    environment: {
      SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      SERVICE_WATCHDOG_URL: url,
      SERVICE_WATCHDOG_INTERVAL: "200ms",
      ...environment,
    },
  })
  const hears = (what: string, line: string, times = 1) => {
    const before = heard.length
    return until(
      what,
      Effect.sync(() => heard.slice(before).filter((watchdog) => watchdog.line === line).length >= times),
    )
  }
  return { server, heard, hears }
})

describe.concurrent("a server with a watchdog ping", () => {
  it.live("sends it while the service is well, and nothing on shutdown", () =>
    Effect.gen(function* () {
      const { server, heard, hears } = yield* beating()
      yield* hears("three watchdog pings", PING, 3)
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
      assert.deepStrictEqual(new Set(heard.map(({ line }) => line)), new Set([PING]))
    }),
  )

  it.live("reports that its database is unreachable, and that it has recovered", () =>
    Effect.gen(function* () {
      const { url, away } = yield* scratchPostgres
      const { heard, hears } = yield* beating({ DATABASE_URL: Redacted.value(url) })
      yield* hears("a watchdog ping", PING)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* away
          yield* hears("it fails", FAIL, 2)
        }),
      )
      assert.match(
        heard.findLast(({ line }) => line === FAIL)?.body ?? "",
        /^Tocsin is not well: the storage does not answer \(\w+\); the storage refuses writes \(\w+\)\.$/,
      )
      yield* hears("it is well again", PING, 2)
    }),
  )
})

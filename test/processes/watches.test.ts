import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { once } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { heartbeat } from "./Agent.ts"
import { type Base, OPERATOR_TOKEN, operate } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { launch, type ServerProcess, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"

/** So many that each of three servers has some, whatever their random IDs. */
const WATCHES = 24
const EVERY_SECONDS = 10

/** A page that counts how often each path was asked for. */
const startPage = Effect.acquireRelease(
  Effect.promise(async () => {
    const asked = new Map<string, number>()
    const server = createServer(({ url = "" }, response) => {
      asked.set(url, (asked.get(url) ?? 0) + 1)
      response.end("well")
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    // A server of TCP has an address of this form.
    const { port } = server.address() as AddressInfo
    return { asked, server, port }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    }),
)

const pathOf = (n: number): string => `/page-${n}`

const create = (base: Base, port: number, n: number) =>
  operate(base, "POST", "/ops/v1/watches", {
    json: {
      name: `page-${n}`,
      every: `${EVERY_SECONDS}s`,
      http: { url: `http://127.0.0.1:${port}${pathOf(n)}` },
    },
  })

const metric = (base: Base, outcome: string) =>
  Effect.promise(async () => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    const text = await (await fetch(`${base.baseUrl}/metrics`, { headers })).text()
    const found = new RegExp(`^tocsin_watch_probes_total\\{outcome="${outcome}"\\} (\\d+)$`, "m").exec(text)
    return Number(found?.[1] ?? 0)
  })

const start = (cwd: string, database: string) =>
  startServer({
    cwd,
    environment: {
      DATABASE_URL: database,
      SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      SERVICE_WATCH_LOOPBACK: "true",
      SERVICE_NOTIFIERS: "debug",
    },
  })

describe("watches of three servers", () => {
  it.live(
    "are probed once a period by one of them, and by another within 30 s of its death",
    () =>
      Effect.gen(function* () {
        const page = yield* startPage
        const { url } = yield* scratchPostgres
        const servers: Array<ServerProcess> = []
        for (let n = 0; n < 3; n++) servers.push(yield* start(yield* scratchFolder, Redacted.value(url)))
        const [first, second, third] = servers
        if (first === undefined || second === undefined || third === undefined)
          return assert.fail("no server")
        for (let n = 0; n < WATCHES; n++) yield* create(first, page.port, n)

        const countOf = (n: number): number => page.asked.get(pathOf(n)) ?? 0
        const allReach = (least: (n: number) => number) =>
          until(
            "every page was asked for",
            Effect.sync(() =>
              Array.from({ length: WATCHES }, (_, n) => countOf(n) >= least(n)).every(Boolean),
            ),
          )
        yield* allReach(() => 2)
        // Every server probes some, and none probes what another does.
        for (const server of servers) {
          assert.isAbove(yield* metric(server, "ok"), 0)
          assert.strictEqual(yield* metric(server, "dropped"), 0)
        }
        const before = Array.from({ length: WATCHES }, (_, n) => countOf(n))
        yield* third.kill
        yield* allReach((n) => (before[n] ?? 0) + 2)
        // A takeover makes no check overdue, and no status count.
        const { text } = yield* operate(first, "GET", "/api/v1/incidents?state=open")
        assert.deepStrictEqual(JSON.parse(text).items, [])
        yield* Effect.all([first.stop, second.stop])
      }).pipe(Effect.scoped),
    180_000,
  )

  it.live("keep a server from starting whose agent has another owner", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_NOTIFIERS: "debug" }
      const server = yield* startServer({ cwd, environment })
      const stranger = { agent_id: "watches", key: "a-key-that-nobody-knows-0123456789" }
      assert.strictEqual((yield* Effect.orDie(heartbeat(server, stranger))).status, 409)
      yield* server.stop
      const again = yield* startServer({ cwd, environment })
      yield* operate(again, "POST", "/ops/v1/integrations", { json: { name: "watches", kind: "ping" } })
      yield* again.stop
      const refused = yield* launch({ cwd, environment })
      assert.deepStrictEqual(yield* refused.ended, { code: 1, signal: null })
      assert.include(
        refused.output.stderr,
        "Tocsin cannot start: an agent or an integration has the name watches, which the agent of watches needs",
      )
      yield* startServer({ cwd, environment: { ...environment, SERVICE_WATCH_AGENT: "probes" } })
    }).pipe(Effect.scoped),
  )
})

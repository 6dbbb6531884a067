import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { call, operate, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { agentHost } from "./AgentProcess.ts"

const startPage = Effect.acquireRelease(
  Effect.promise(async () => {
    const page = { status: 200, asked: new Array<string | undefined>() }
    const server = createServer(({ headers }, response) => {
      page.asked.push(headers["x-key"]?.toString())
      response.writeHead(page.status).end("well")
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    // A server of TCP has an address of this form.
    const { port } = server.address() as AddressInfo
    return { page, server, port }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    }),
)

interface Named {
  readonly name: string
  readonly place?: string
}

const watchOf = (server: ServerProcess, name: string) =>
  Effect.map(operate(server, "GET", `/ops/v1/watches/${name}`), ({ text }) => JSON.parse(text))

const create = (server: ServerProcess, json: object) =>
  Effect.map(operate(server, "POST", "/ops/v1/watches", { json }), ({ status, text }) =>
    assert.strictEqual(status, 201, text),
  )

describe("an agent that is a place", { timeout: 300_000 }, () => {
  it.live("probes what its server asks for, as far as its configuration allows it", () =>
    Effect.gen(function* () {
      const { page, port } = yield* startPage
      const cwd = yield* scratchFolder
      const server = yield* startServer({
        cwd,
        environment: {
          SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
          SERVICE_DATA_DIR: join(cwd, "data"),
          SERVICE_WATCH_LOOPBACK: "true",
          SERVICE_SECRETS_KEY: "5a".repeat(32),
        },
      })
      const url = `http://127.0.0.1:${port}/`
      const terms = { every: "10s", confirm: { bad: 1 }, from: ["berlin"] }
      yield* create(server, { name: "page", ...terms, http: { url, headers: { "x-key": "top-secret" } } })
      yield* create(server, { name: "other", ...terms, http: { url: `http://127.0.0.2:${port}/` } })
      const { configure, start } = agentHost(join(cwd, "agent"))
      configure(`server: ${server.baseUrl}\nagent_id: berlin\nplace: { allow: [127.0.0.1] }\nchecks: {}\n`)
      yield* start
      const registered = Effect.orDie(call(server, "GET", "/api/v1/agents/berlin"))
      yield* until(
        "it registers",
        Effect.map(registered, ({ status }) => status === 200),
        "2 minutes",
      )
      yield* operate(server, "POST", "/api/v1/agents/berlin/accept")
      const settled = (status: string) =>
        until(
          `the watch is ${status}`,
          Effect.map(watchOf(server, "page"), (watch) => watch.status === status && watch),
          "3 minutes",
        )
      const well = yield* settled("ok")
      assert.strictEqual(well.last.output.split("\n")[0], "ok from 1 of 1 place: berlin ok")
      assert.deepStrictEqual(new Set(page.asked), new Set(["top-secret"]))
      page.status = 503
      const failing = yield* settled("critical")
      assert.match(
        failing.last.output,
        /^critical from 1 of 1 place: berlin 503 http:\/\/127\.0\.0\.1:\d+\/ in \d+\.\d{3} s\n/,
      )
      const numbers = yield* operate(server, "GET", "/ops/v1/numbers?agent_id=watches&check_id=page")
      assert.deepStrictEqual(
        JSON.parse(numbers.text).series.map(({ name, place }: Named) => [name, place]),
        [["duration", "berlin"]],
        numbers.text,
      )
      const refused = yield* watchOf(server, "other")
      assert.isNull(refused.status)
      assert.containSubset(refused.places, [{ place: "berlin", status: "unknown", counts: false }])
      const { text } = yield* operate(server, "GET", "/api/v1/incidents?status=open")
      assert.deepStrictEqual(
        JSON.parse(text).items.map((incident: { incident_key: string }) => incident.incident_key),
        ["watches/page"],
      )
    }),
  )
})

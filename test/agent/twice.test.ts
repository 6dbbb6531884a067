import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { copyFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { operate, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { tocsin } from "../cli/tocsin.ts"
import { agentHost } from "./AgentProcess.ts"

interface Row {
  readonly incident_key?: string
  readonly incident_id?: string
  readonly hostname?: string
  readonly id: string
  readonly state: string
  readonly summary?: string
}

interface Found {
  readonly check: string
  readonly level: string
  readonly message: string
}

/** The rows of a list, the newest ones. */
const rowsOf = (server: ServerProcess, path: string) =>
  Effect.map(
    operate(server, "GET", path),
    ({ text }): ReadonlyArray<Row> => (JSON.parse(text) as { items: ReadonlyArray<Row> }).items, // As v1 states.
  )

describe("a machine and its clone", { timeout: 300_000 }, () => {
  it.live("are one message, whatever their checks report", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_DATA_DIR: join(cwd, "data") }
      const server = yield* startServer({ cwd, environment })
      const configOf = (host: string, command: string) =>
        `server: ${server.baseUrl}\nagent_id: db-1\nhostname: ${host}\n` +
        `checks:\n  disk: { shell: '${command}', every: 1s }\n`
      const seen = (hostname: string) =>
        until(
          `${hostname} is seen`,
          Effect.map(rowsOf(server, "/api/v1/agents"), (agents) =>
            agents.some((one) => one.hostname === hostname),
          ),
          "2 minutes",
        )

      const machine = agentHost(join(cwd, "machine"))
      machine.configure(configOf("db-1", "true"))
      const first = yield* machine.start
      yield* seen("db-1")
      yield* operate(server, "POST", "/api/v1/agents/db-1/accept")
      yield* first.reload
      mkdirSync(join(cwd, "clone", "state"), { recursive: true })
      copyFileSync(join(cwd, "machine", "state", "key"), join(cwd, "clone", "state", "key"))
      const clone = agentHost(join(cwd, "clone"))
      clone.configure(configOf("db-1-copy", "true"))
      const second = yield* clone.start
      yield* seen("db-1-copy")
      // Its next heartbeat.
      yield* first.reload
      const [twice] = yield* until(
        "the incident opens",
        Effect.map(rowsOf(server, "/api/v1/incidents?state=open"), (open) => open.length > 0 && open),
        "2 minutes",
      )
      assert.strictEqual(twice?.incident_key, "db-1/@twice")
      assert.match(twice?.summary ?? "", /^two agents use the key of db-1, on db-1-copy and on db-1: /)

      const examined = yield* tocsin({ cwd, environment }, "doctor", "--json")
      assert.strictEqual(examined.code, EXIT_CODES.attention.code)
      const { findings } = JSON.parse(examined.stdout) as { findings: ReadonlyArray<Found> } // As it prints.
      const found = findings.find(({ check }) => check === "agent db-1")
      assert.strictEqual(found?.level, "attention")
      assert.match(
        found?.message ?? "",
        /^give one of two hosts its own key: two agents use the key of db-1, /,
      )

      // The checks of both differ from now on: incidents open and resolve.
      clone.configure(configOf("db-1-copy", "exit 2"))
      yield* second.reload
      const items = yield* until(
        "several messages about the check were held",
        Effect.map(rowsOf(server, "/api/v1/notifiers/outbox?limit=500"), (all) => {
          const others = all.filter((item) => item.incident_id !== twice?.id && item.state === "discarded")
          return others.length >= 2 && all
        }),
        "3 minutes",
      )
      assert.deepStrictEqual(
        items.filter(({ state }) => state === "sent").map((item) => item.incident_id),
        [twice?.id],
      )
    }),
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { call, historyOf, operate, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until as untilWithin } from "../processes/until.ts"
import { agentHost } from "./AgentProcess.ts"

const PATIENCE_MILLIS = 300_000

/** Processes start slowly on a busy machine. */
const until = <A, E, R>(what: string, look: Effect.Effect<A | undefined | false, E, R>) =>
  untilWithin(what, look, "3 minutes")

const json = Effect.fnUntraced(function* (server: ServerProcess, path: string) {
  const { text } = yield* operate(server, "GET", path)
  return JSON.parse(text)
})

/** The agent as v1 shows it; `undefined` before it has registered. */
const agentOf = Effect.fnUntraced(function* (server: ServerProcess) {
  const { status, text } = yield* Effect.orDie(call(server, "GET", "/api/v1/agents/host-1"))
  return status === 200 ? JSON.parse(text) : undefined
})

/** The changes of a check in the order in which the server took them. */
const changesOf = Effect.fnUntraced(function* (server: ServerProcess, check: string) {
  const all = yield* historyOf(server)
  return all
    .filter(({ check_id: id }) => id === check)
    .toSorted((a, b) => String(a.observed_at).localeCompare(String(b.observed_at)))
    .map(({ status, exit_code: code }) => `${status} ${code}`)
})

describe("the agent and the server", { timeout: PATIENCE_MILLIS }, () => {
  it.live("agree from the first heartbeat to a blocked key, through a crash, a restart and a rotation", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_DATA_DIR: join(cwd, "data") }
      const first = yield* startServer({ cwd, environment })
      const { configure, run, start } = agentHost(join(cwd, "agent"))
      configure(
        `server: ${first.baseUrl}\nagent_id: host-1\nhostname: host-1.example\nlabels: { env: prod }\nchecks:\n` +
          "  up: { shell: 'echo up', every: 1s, incident_key: all-up }\n" +
          "  job: { report_only: true, cron: '0 3 * * *', tz: Europe/Berlin, notifications_enabled: false }\n",
      )

      // Pending: the server shows the fingerprint that the agent prints.
      const pending = yield* start
      const registered = yield* until("it registers", agentOf(first))
      assert.deepInclude(registered, {
        hostname: "host-1.example",
        admission_state: "pending",
        features: { push: true, metrics: false },
        labels: {
          env: "prod",
          service_agent_tz: process.versions["tz"],
          service_agent_version: manifest.version,
        },
      })
      assert.strictEqual(run("fingerprint").stdout.trim(), registered.key_fingerprint)
      yield* pending.kill("SIGKILL")

      // Accepted: what waited arrives, in order, and the schedule is declared.
      for (const status of ["critical", "ok"])
        assert.strictEqual(run("report", "job", status, "said").status, 0)
      yield* operate(first, "POST", "/api/v1/agents/host-1/accept")
      const accepted = yield* start
      const expected = until(
        "the checks are expected",
        Effect.map(json(first, "/ops/v1/checks"), ({ items }) => {
          const found = items as ReadonlyArray<{ check_id: string; expected_at: string | null }>
          const ids = found.filter((one) => one.expected_at !== null).map((one) => one.check_id)
          return ids.includes("up") && ids.includes("job")
        }),
      )
      yield* expected
      assert.deepStrictEqual(yield* changesOf(first, "job"), ["critical 2", "ok 0"])
      const { items } = yield* json(first, "/api/v1/checks")
      const up = (items as ReadonlyArray<Record<string, unknown>>).find((one) => one["check_id"] === "up")
      assert.deepInclude(up, { status: "ok", exit_code: 0, incident_key: "all-up", summary: "up" })

      // The server is away: what is reported meanwhile arrives when it is back, once.
      yield* first.stop
      assert.strictEqual(run("run", "job", "--", "sh", "-c", "exit 7").status, 7)
      assert.strictEqual(run("report", "job", "ok").status, 0)
      const port = { SERVICE_PORT: String(first.port) }
      const second = yield* startServer({ cwd, environment: { ...environment, ...port } })
      yield* accepted.reload
      const changes = yield* until(
        "both arrive",
        Effect.map(changesOf(second, "job"), (found) => found.length >= 4 && found),
      )
      assert.deepStrictEqual(changes, ["critical 2", "ok 0", "critical 7", "ok 0"])
      assert.strictEqual(yield* accepted.kill("SIGTERM"), 0)

      // A rotation: the former key works until the new one is accepted.
      const next = run("rotate").stdout.trim()
      const rotating = yield* start
      const waiting = until(
        "the new key waits",
        Effect.map(agentOf(second), (found) => found?.rotation_pending === true && found),
      )
      assert.strictEqual((yield* waiting).key_fingerprint, next)
      yield* rotating.kill("SIGKILL")
      yield* operate(second, "POST", "/api/v1/agents/host-1/accept")
      const rotated = yield* start
      yield* until(
        "it uses the new key",
        Effect.sync(() => rotated.log.text.includes("replaces the former one")),
      )
      assert.strictEqual(run("fingerprint").stdout.trim(), next)

      // Blocked: the agent says so, and keeps its results.
      yield* operate(second, "POST", "/api/v1/agents/host-1/block")
      yield* until(
        "it says so",
        Effect.sync(() => rotated.log.text.includes("has blocked this agent's key")),
      )
      assert.strictEqual(run("report", "job", "critical").status, 0)
      const status = yield* until(
        "its status says so",
        Effect.sync(() => {
          const shown = JSON.parse(run("status", "--json").stdout) as Record<string, unknown>
          return shown["admission"] === "blocked" && shown
        }),
      )
      assert.isAbove(Number(status["backlog"]), 0)
    }).pipe(Effect.scoped),
  )

  it.live("are joined by an enrolment: without a configuration, a fingerprint or an operator", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_DATA_DIR: join(cwd, "data") }
      const server = yield* startServer({ cwd, environment })
      const made = yield* operate(server, "POST", "/ops/v1/enrolments", { json: {} })
      const { token } = JSON.parse(made.text) as { readonly token: string }
      const { startEnrolling } = agentHost(join(cwd, "agent"))
      const agent = yield* startEnrolling(token, "--server", server.baseUrl)
      yield* until(
        "its checks are there",
        Effect.map(json(server, "/api/v1/checks"), ({ items }) => {
          const found = new Set((items as ReadonlyArray<{ check_id: string }>).map((one) => one.check_id))
          // A load that is high from the start counts after five minutes.
          return ["disk", "memory"].every((check) => found.has(check))
        }),
      )
      assert.include(agent.log.text, "the server accepts this agent by its enrolment token")
      assert.notInclude(agent.log.text, token)
    }).pipe(Effect.scoped),
  )
})

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { enroll, eventOf, push } from "./Agent.ts"
import { call, historyOf, OPERATOR_TOKEN } from "./api.ts"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { isRefused } from "./RawConnection.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { launch, type ServerProcess, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"

const WORKERS = 3

/** The processes that a process has started. */
const childrenOf = (pid = 0): ReadonlyArray<number> =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
  )

const threadsOf = (pid: number): number => readdirSync(`/proc/${pid}/task`).length

/** Of a process: seven of Node.js from the start, and 16 of libuv once they have work. */
const MOST_THREADS = 23

const ENDED = /^worker \d ended by exit code 1; another process takes its place$/

const startWorkers = Effect.gen(function* () {
  const { url } = yield* scratchPostgres
  const environment = {
    DATABASE_URL: Redacted.value(url),
    SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
    SERVICE_WORKERS: String(WORKERS),
    SERVICE_LOG_LEVEL: "info",
  }
  return yield* startServer({ cwd: yield* scratchFolder, environment })
})

/** Sends a result of each agent until it is acknowledged, over a connection of its own. */
const insist = (server: ServerProcess, agents: ReadonlyArray<Effect.Success<ReturnType<typeof enroll>>>) =>
  Effect.forEach(
    agents,
    (agent) => {
      const event = eventOf({ check_id: "disk", status: "ok" })
      const acknowledged = push(server, agent, [event]).pipe(
        Effect.map(({ status }) => (status === 202 ? event.event_id : undefined)),
        Effect.catchTag("Unanswered", () => Effect.succeed(undefined)),
      )
      return until("the result is acknowledged", acknowledged)
    },
    { concurrency: "unbounded" },
  )

const linesOf = ({ output }: ServerProcess, message: string): number =>
  output.stderr.split("\n").filter((line) => line.includes(message)).length

/** A metric with the sum of its samples. */
const metricOf = (server: ServerProcess, sample: RegExp) =>
  Effect.map(call(server, "GET", "/metrics"), ({ text }) =>
    Array.from(text.matchAll(sample), ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0),
  )

describe.skipIf(process.platform !== "linux")("a server of several workers", () => {
  it.live("serves one port, counts as one, replaces a worker that dies, and stops as one", () =>
    Effect.gen(function* () {
      const server = yield* startWorkers
      assert.strictEqual(linesOf(server, "Tocsin listens on"), 1)
      assert.strictEqual(childrenOf(server.pid).length, WORKERS)
      const agents = yield* Effect.forEach(["one", "two", "three", "four", "five", "six"], (name) =>
        enroll(server, name),
      )
      const first = yield* insist(server, agents)
      const threads = [server.pid ?? 0, ...childrenOf(server.pid)].map(threadsOf)
      assert.isAtMost(Math.max(...threads), MOST_THREADS)
      // Whichever worker is asked counts the requests of all.
      const counted = metricOf(server, /^tocsin_check_results_total\{outcome="changed"\} (\d+)$/gm)
      yield* until(
        "all results are counted",
        Effect.map(counted, (count) => count === agents.length || undefined),
      )
      const processes = metricOf(server, /^tocsin_processes (\d+)$/gm)
      yield* until(
        "a scrape has every worker",
        Effect.map(processes, (count) => count === WORKERS || undefined),
      )
      const [victim = 0] = childrenOf(server.pid)
      process.kill(victim, "SIGKILL")
      const second = yield* insist(server, agents)
      yield* until(
        "another process takes its place",
        Effect.sync(
          () =>
            (linesOf(server, "another process takes its place") === 1 &&
              childrenOf(server.pid).length === WORKERS) ||
            undefined,
        ),
      )
      const stored = (yield* historyOf(server)).map(({ event_id }) => event_id)
      assert.includeMembers(stored, first)
      assert.strictEqual(second.length, agents.length)
      // The second results changed nothing. Those that the victim counted are counted on.
      assert.strictEqual(yield* counted, agents.length)
      // The port closes with the last worker, and opens again where clients look for it.
      for (const worker of childrenOf(server.pid)) process.kill(worker, "SIGKILL")
      yield* insist(server, agents)
      assert.strictEqual(yield* counted, agents.length)
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
      assert.strictEqual(linesOf(server, "Tocsin stops"), 1)
    }),
  )

  it.live("opens no debugger on SIGUSR1, in its workers neither", () =>
    Effect.gen(function* () {
      const server = yield* startWorkers
      for (const pid of [server.pid ?? 0, ...childrenOf(server.pid)]) process.kill(pid, "SIGUSR1")
      // Each answers after its signal.
      yield* Effect.forEach(Array.from({ length: 20 }), () => call(server, "GET", "/api/v1/health"))
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
      assert.notInclude(server.output.stderr, "Debugger")
    }),
  )

  it.live("logs in one line why a replacement cannot start, and tries again", () =>
    Effect.gen(function* () {
      const { url } = yield* scratchPostgres
      const cwd = yield* scratchFolder
      const [policy, token] = [join(cwd, "policy.yaml"), join(cwd, "token")]
      writeFileSync(policy, "routes: []")
      writeFileSync(token, OPERATOR_TOKEN)
      const environment = {
        DATABASE_URL: Redacted.value(url),
        SERVICE_AUTH_TOKEN_FILE: token,
        SERVICE_POLICY_FILE: policy,
        SERVICE_WORKERS: "2",
        SERVICE_LOG_LEVEL: "info",
      }
      const server = yield* startServer({ cwd, environment })
      const kill = Effect.sync(() => process.kill(childrenOf(server.pid)[0] ?? 0, "SIGKILL"))
      const lines = () =>
        server.output.stderr
          .split("\n")
          // What follows the last line break has not arrived in full.
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      const failed = (problem: string) =>
        until(
          `a line with ${problem}`,
          Effect.sync(() => lines().find((line) => String(line["problem"]).includes(problem))),
        )
      writeFileSync(policy, "routes: 1")
      yield* kill
      const invalid = yield* failed("the policy file is not valid")
      assert.match(String(invalid["message"]), ENDED)
      assert.deepStrictEqual([invalid["level"], typeof invalid["worker"]], ["error", "number"])
      writeFileSync(policy, "routes: []")
      rmSync(token)
      const missing = yield* failed("SERVICE_AUTH_TOKEN_FILE")
      assert.match(String(missing["message"]), ENDED)
      writeFileSync(token, OPERATOR_TOKEN)
      yield* until(
        "another process takes its place",
        Effect.sync(() => childrenOf(server.pid).length === 2 || undefined),
      )
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
    }),
  )

  it.live("warns once if its workers need more connections than PostgreSQL allows", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* scratchPostgres
      const { sql } = yield* replica()
      const { pathname } = new URL(Redacted.value(url))
      yield* sql.unsafe(`ALTER DATABASE "${pathname.slice(1)}" CONNECTION LIMIT 39`)
      const environment = {
        DATABASE_URL: Redacted.value(url),
        SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
        SERVICE_WORKERS: "2",
        SERVICE_LOG_LEVEL: "info",
      }
      const server = yield* startServer({ cwd: yield* scratchFolder, environment })
      const warnings = () => linesOf(server, "opens up to 40 connections, but PostgreSQL allows 39")
      yield* until(
        "the warning",
        Effect.sync(() => warnings() > 0 || undefined),
      )
      yield* server.stop
      assert.strictEqual(warnings(), 1)
    }),
  )

  it.live("leaves no process behind when it is killed, and fails once where it cannot listen", () =>
    Effect.gen(function* () {
      const server = yield* startWorkers
      const workers = childrenOf(server.pid)
      yield* server.kill
      yield* until("the port is closed", isRefused(server.port))
      const isGone = (pid: number) => {
        try {
          return !process.kill(pid, 0)
        } catch {
          return true
        }
      }
      yield* until(
        "the workers are gone",
        Effect.sync(() => workers.every(isGone) || undefined),
      )
      const port = yield* Effect.promise(freePort)
      const environment = {
        SERVICE_WORKERS: "2",
        SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
        SERVICE_PORT: String(port),
      }
      const refused = yield* launch({
        cwd: yield* scratchFolder,
        environment: { ...environment, DATABASE_URL: "postgres://127.0.0.1:1/none" },
      })
      assert.deepStrictEqual(yield* refused.ended, { code: 1, signal: null })
      assert.strictEqual(refused.output.stderr.split("Tocsin cannot start").length, 2, refused.output.stderr)
    }),
  )
})

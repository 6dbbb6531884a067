import { spawn } from "node:child_process"
import { closeSync, openSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { Effect, Schedule } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { AgentCase } from "../cases.ts"
import { ownCpuSeconds } from "../processes/cpuSeconds.ts"
import { proportionalMiB, residentMiB } from "../processes/residentMemory.ts"
import type { Tocsin } from "../processes/tocsin.ts"
import type { CaseResult } from "../report/Results.ts"
import { startServer } from "./target.ts"

const PROGRAM = resolve(import.meta.dirname, "../../../scripts/startAgent.mjs")
const AGENT_ID = "host"
const LOOKS = { schedule: Schedule.spaced("200 millis"), times: 600 }
/** The checks run once a minute, so each runs once. */
const LONGEST_LOOK_SECONDS = 60

const configuration = (port: number, checks: number): string =>
  [
    `server: http://127.0.0.1:${port}`,
    `agent_id: ${AGENT_ID}`,
    "checks:",
    ...Array.from({ length: checks }, (_, index) => `  check-${index}: { command: ["true"], every: 1m }`),
    "",
  ].join("\n")

/** Runs the agent as `npm run agent` does, until the scope closes. */
const startAgent = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const log = openSync(join(folder, "agent.log"), "a")
      const args = ["start", "--config", join(folder, "config.yaml"), "--state", join(folder, "state")]
      const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", log, log] })
      closeSync(log)
      return child
    }),
    (child) =>
      Effect.promise(
        () =>
          new Promise<void>((ended) => {
            if (child.exitCode !== null || child.signalCode !== null) return ended()
            child.once("exit", () => ended())
            child.kill("SIGTERM")
          }),
      ),
  )

const ask = ({ port, token }: Tocsin, method: "GET" | "POST", path: string) =>
  Effect.tryPromise({
    try: async () => {
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers })
      if (!response.ok) throw new Error(`${path} was answered with ${response.status}`)
      return await response.text()
    },
    catch: (cause) => new BenchFailure({ message: String(cause) }),
  })

/** Measures an agent with an accepted key whose checks all report, beside the server's Node.js. */
export const measureAgent = Effect.fnUntraced(function* (bench: Bench, one: AgentCase) {
  const { server } = yield* startServer(bench, one.storage)
  const folder = yield* bench.folder
  writeFileSync(join(folder, "config.yaml"), configuration(server.port, one.checks))
  const agent = yield* startAgent(folder)
  const pid = agent.pid ?? 0
  yield* Effect.retry(ask(server, "GET", `/api/v1/agents/${AGENT_ID}`), LOOKS)
  yield* ask(server, "POST", `/api/v1/agents/${AGENT_ID}/accept`)
  // It asks again immediately, instead of within a minute.
  agent.kill("SIGHUP")
  yield* ask(server, "GET", "/api/v1/checks?limit=500").pipe(
    Effect.filterOrFail(
      (text) => text.split('"check_id":"check-').length > one.checks,
      () => new BenchFailure({ message: "not every check of the agent has reported" }),
    ),
    Effect.retry(LOOKS),
  )
  yield* Effect.sleep(bench.measures.settleSeconds * 1_000)
  const [begun, before] = [performance.now(), ownCpuSeconds(pid)]
  yield* Effect.sleep(Math.min(LONGEST_LOOK_SECONDS, bench.measures.soakSeconds) * 1_000)
  const [seconds, after] = [(performance.now() - begun) / 1_000, ownCpuSeconds(pid)]
  const [resident, proportional] = [residentMiB(pid), proportionalMiB(pid)]
  if (before === undefined || after === undefined || resident === undefined || proportional === undefined)
    return yield* new BenchFailure({ message: "memory and time are read from /proc, which is not here" })
  const result: CaseResult = {
    name: one.name,
    operations: "checks",
    series: [],
    figures: [
      { name: "MiB resident", value: resident, target: { bound: "at most", value: one.mostResidentMiB } },
      {
        name: "MiB proportional",
        value: proportional,
        target: { bound: "at most", value: one.mostProportionalMiB },
      },
      {
        name: "% of a core",
        value: ((after - before) / seconds) * 100,
        target: { bound: "at most", value: one.mostPercent },
      },
    ],
  }
  return result
})

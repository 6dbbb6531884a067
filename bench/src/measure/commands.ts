import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { text } from "node:stream/consumers"
import { Effect } from "effect"
import { bundleOf } from "../../../scripts/startBundled.mjs"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { CommandsCase } from "../cases.ts"
import { median } from "../statistics.ts"
import type { CaseResult, Figure } from "../report/Results.ts"

const RUNS = 7
const MICROS_PER_MILLI = 1_000
const KIB_PER_MIB = 1_024

const COMMANDS: ReadonlyArray<readonly [program: "server" | "agent", ...args: ReadonlyArray<string>]> = [
  ["server", "--version"],
  ["server", "--help"],
  ["server", "--completions", "bash"],
  ["server", "incidents"],
  ["server", "checks"],
  ["server", "watches", "list"],
  ["server", "oncall"],
  ["agent", "--version"],
  ["agent", "run", "--config", "agent.yaml", "--state", "state", "nightly", "--", "true"],
]

/** Writes what the process took to its fourth stream as it ends. */
const COUNT = `
import { writeSync } from "node:fs"
process.on("exit", () => {
  const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage()
  writeSync(3, JSON.stringify({ cpu: systemCPUTime + userCPUTime, memory: maxRSS }))
})`

const runOnce = async (folder: string, program: "server" | "agent", args: ReadonlyArray<string>) => {
  const counting = ["--import", `data:text/javascript,${encodeURIComponent(COUNT)}`]
  const child = spawn(process.execPath, [...counting, bundleOf(program), ...args], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      SERVICE_DATA_DIR: join(folder, "data"),
    },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  })
  // The options above open it.
  const taken: { cpu: number; memory: number } = JSON.parse(
    await text(child.stdio[3] as NodeJS.ReadableStream),
  )
  return taken
}

/** Processor time and memory of short commands, as cron and prompts run them: what Node.js compiles is kept. */
export const measureCommands = Effect.fnUntraced(function* (bench: Bench, one: CommandsCase) {
  const folder = yield* bench.folder
  mkdirSync(join(folder, "data"))
  // Its results wait in the spool.
  writeFileSync(join(folder, "agent.yaml"), "server: http://127.0.0.1:9\nagent_id: host\nchecks: {}\n")
  const run = (...[program, ...args]: (typeof COMMANDS)[number]) =>
    Effect.tryPromise({
      try: () => runOnce(folder, program, args),
      catch: (cause) => new BenchFailure({ message: `${program} ${args.join(" ")}: ${String(cause)}` }),
    })
  yield* run("server", "migrate")
  const figures: Array<Figure> = []
  for (const command of COMMANDS) {
    // The first one compiles.
    yield* run(...command)
    const taken = yield* Effect.replicateEffect(run(...command), RUNS)
    const name = `${command[0] === "agent" ? "tocsin-agent" : "tocsin"} ${command.slice(1).join(" ")}`
    const millis = median(taken.map(({ cpu }) => cpu / MICROS_PER_MILLI))
    const memory = median(taken.map((each) => each.memory / KIB_PER_MIB))
    figures.push(
      {
        name: `ms of ${name}`,
        value: millis,
        target: { bound: "at most", value: one.mostMillis[command[0]] },
      },
      { name: `MiB of ${name}`, value: memory, target: { bound: "at most", value: one.mostMiB } },
    )
  }
  const result: CaseResult = { name: one.name, operations: "commands", series: [], figures }
  return result
})

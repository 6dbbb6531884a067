import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { Cause, Effect, Exit, type Scope } from "effect"
import bundlePrograms from "../processes/bundledPrograms.ts"
import { allFaults } from "./allFaults.ts"
import type { Fault, Setup } from "./Fault.ts"
import { type FaultyPostgres, missingPostgres, startFaultyPostgres } from "./FaultyPostgres.ts"
import type { Verdict } from "./judge.ts"
import { type Options, readOptions } from "./options.ts"
import { renderPage, tableOf } from "./page.ts"
import { readResults, type Row, withRows, writeResults } from "./Results.ts"
import { runFault } from "./runFault.ts"

const HERE = import.meta.dirname
const RESULTS = join(HERE, "results.jsonl")
const PAGE = join(HERE, "../../docs/reliability.md")
/** Of each kind of violation, how many are printed. */
const PRINTED = 5

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const note = (text: string): void => void process.stderr.write(`${text}\n`)

const commit = (): string => {
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-C", HERE, ...args], { encoding: "utf8" }).trim()
  const changes = git("status", "--porcelain", "--untracked-files=no", "--", "../../packages")
  return `${git("rev-parse", "--short=10", "HEAD")}${changes === "" ? "" : " and changes"}`
}

const machineOf = (postgres: FaultyPostgres | undefined): string =>
  [
    new Date().toISOString().slice(0, 10),
    `${cpus()[0]?.model ?? "unknown"} (${arch()}), ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `load average ${(loadavg()[0] ?? 0).toFixed(0)}`,
    `${type()} ${release()}`,
    `Node.js ${process.version}`,
    ...(postgres === undefined ? [] : [postgres.version]),
  ].join("; ")

const rowOf = (fault: Fault, setup: Setup, rounds: number, verdict: Verdict): Row => ({
  fault: fault.name,
  setup,
  rounds,
  acknowledged: verdict.acknowledged,
  lost: verdict.lost.length,
  duplicated: verdict.duplicated.length,
  outOfOrder: verdict.outOfOrder.length,
  wronglyNotified: verdict.wronglyNotified.length,
  sentAgain: verdict.sentAgain,
  worstRecoveryMillis: verdict.worstRecoveryMillis ?? null,
  longestWaitMillis: verdict.longestWaitMillis,
  commit: commit(),
})

const noteViolations = (verdict: Verdict): void => {
  for (const kind of ["lost", "duplicated", "outOfOrder", "wronglyNotified"] as const)
    for (const violation of verdict[kind].slice(0, PRINTED)) note(`  ${kind}: ${violation}`)
}

/** Keeps the rows, and renews the page. */
const write = (rows: ReadonlyArray<Row>, machine: string): void => {
  const earlier = readResults(readFileSync(RESULTS, "utf8"))
  const results = { machine, rows: withRows(earlier.rows, rows) }
  writeFileSync(RESULTS, writeResults(results))
  writeFileSync(PAGE, renderPage(readFileSync(PAGE, "utf8"), allFaults, results))
}

const runAll = Effect.fnUntraced(function* ({ faults, isWritten, rounds, seed, setups }: Options) {
  const planned = faults.flatMap((fault) =>
    fault.setups.filter((setup) => setups.includes(setup)).map((setup) => ({ fault, setup })),
  )
  const needsPostgres = planned.some(({ setup }) => setup !== "sqlite")
  const lacking = needsPostgres ? missingPostgres() : undefined
  if (lacking !== undefined) note(`PostgreSQL is skipped: ${lacking}`)
  const postgres: FaultyPostgres | undefined =
    needsPostgres && lacking === undefined ? yield* startFaultyPostgres : undefined
  const machine = machineOf(postgres)
  note(`${machine}; seed ${seed}`)
  const rows: Array<Row> = []
  for (const { fault, setup } of planned) {
    const missing = fault.missing?.() ?? (setup === "sqlite" ? undefined : lacking)
    if (missing !== undefined) {
      note(`${fault.name}, ${setup}: skipped: ${missing}`)
      continue
    }
    const times = rounds ?? fault.rounds
    const begin = performance.now()
    const exit = yield* Effect.exit(
      runFault(fault, { setup, rounds: times, seed, postgres: setup === "sqlite" ? undefined : postgres }),
    )
    note(`${fault.name}, ${setup}: ${((performance.now() - begin) / 1000).toFixed(0)} s`)
    if (Exit.isFailure(exit)) {
      note(`  ${Cause.pretty(exit.cause)}`)
      process.exitCode = 1
      continue
    }
    noteViolations(exit.value)
    const row = rowOf(fault, setup, times, exit.value)
    rows.push(row)
    if (isWritten) write([row], machine)
  }
  say(tableOf(rows))
}) satisfies (options: Options) => Effect.Effect<void, never, Scope.Scope>

try {
  const options = readOptions(process.argv.slice(2), say)
  if (options !== undefined) {
    bundlePrograms()
    const stop = new AbortController()
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort())
    await Effect.runPromise(Effect.scoped(runAll(options)), { signal: stop.signal })
  }
} catch (error) {
  note(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

import { compileGlob } from "@tocsin/contract/formats/compileGlob"
import { withNumbers } from "@tocsin/contract/formats/performanceData"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { within } from "@tocsin/reporting/program/Platform"
import { byMillis } from "../clock/Clock.ts"
import type { CheckConfig, RunCheck } from "../config/readConfig.ts"
import { judge, type ProbeConfig } from "../probes/Probe.ts"
import { explainError } from "../sending/explainError.ts"
import { outcomeOf, runCommand, type RunOutcome, type StartedRun } from "./runCommand.ts"

interface CheckAround {
  readonly state: string
  readonly clock: Clock
  readonly note?: string | undefined
}

/** Where a unit of systemd looks for programs. */
export const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const NOTE = "probe:"

/** The name of a probe's note in the spool. */
export const noteName = (checkId: string): string => `${NOTE}${checkId}`

/** The notes of checks that are no longer there, or no longer probes. */
export const orphanedNotes = (
  names: Iterable<string>,
  checks: ReadonlyMap<string, CheckConfig>,
): ReadonlyArray<string> =>
  [...names].filter((name) => {
    const check = checks.get(name.slice(NOTE.length))
    return name.startsWith(NOTE) && !(check?.kind === "run" && check.work.kind === "probe")
  })

/** Begins the work of a check: a probe, or a command in the state folder. */
export const startCheck = (
  { work, env, timeoutMillis, numbers }: RunCheck,
  { state, clock, note }: CheckAround,
): StartedRun => {
  const run =
    work.kind === "probe"
      ? runProbe(work.probe, { timeoutMillis, clock, note })
      : runCommand({ argv: work.argv, env: environmentOf(env, state), cwd: state, timeoutMillis }, clock)
  if (numbers === undefined) return run
  const wanted = numbers.map(compileGlob)
  const isWanted = (label: string) => wanted.some((matches) => matches(label))
  const outcome = run.outcome.then((found) => ({ ...found, output: withNumbers(found.output, isWanted) }))
  return { ...run, outcome }
}

const environmentOf = (
  env: ReadonlyMap<string, string>,
  state: string,
): Readonly<Record<string, string>> => ({
  HOME: process.env["HOME"] ?? state,
  PATH: process.env["PATH"] ?? DEFAULT_PATH,
  ...(process.env["LANG"] !== undefined && { LANG: process.env["LANG"] }),
  // Plugins read thresholds by it: in German, check_tcp of Monitoring Plugins 2.3.3 takes -w 0.5 for 0.
  LC_NUMERIC: "C",
  ...Object.fromEntries(env),
})

/** A probe that hangs in the system, such as on the file system of a dead server, is examined again after this. */
const PATIENCE_MILLIS = 1_000

/** Runs a probe as if it were a command: its result is there at its deadline, whatever becomes of it. */
export const runProbe = (
  { name, run }: ProbeConfig,
  { timeoutMillis, clock, note }: Omit<CheckAround, "state"> & { readonly timeoutMillis: number },
): StartedRun => {
  const begun = clock.steady()
  const ended = new AbortController()
  let isOver = false
  const work = run({ clock, signal: ended.signal, note })
    .finally(() => (isOver = true))
    .then(
      (found): RunOutcome => ({ ...judge(name, found), droppedBytes: 0, note: found.note }),
      (error: unknown): RunOutcome => ({
        status: "unknown",
        exitCode: 3,
        output: `${name.toUpperCase()} UNKNOWN - ${explainError(error)}`,
        droppedBytes: 0,
      }),
    )
  const outcome = byMillis(clock, timeoutMillis, work).then((result) => ({
    ...(result ?? outcomeOf({ kind: "timedOut", timeoutMillis })),
    durationMillis: clock.steady() - begun,
  }))
  return {
    outcome,
    gone: outcome.then(async () => {
      ended.abort()
      if (!isOver) await within(PATIENCE_MILLIS, work)
      return isOver
    }),
    isAlive: () => !isOver,
    stop: () => ended.abort(),
  }
}

import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import type { CheckConfig, RunCheck } from "../config/AgentConfig.ts"
import { DEFAULT_PATH } from "../config/findProgram.ts"
import { runProbe } from "../probes/probes.ts"
import { runCommand, type StartedRun } from "./runCommand.ts"

/** The surroundings of a check. */
interface CheckAround {
  readonly state: string
  readonly clock: Clock
  /** The note of the probe's last run. */
  readonly note: string | undefined
}

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
  { work, env, timeoutMillis }: RunCheck,
  { state, clock, note }: CheckAround,
): StartedRun =>
  work.kind === "probe"
    ? runProbe(work.probe, { timeoutMillis, clock, note })
    : runCommand({ argv: work.argv, env: environmentOf(env, state), cwd: state, timeoutMillis }, clock)

const environmentOf = (
  env: ReadonlyMap<string, string>,
  state: string,
): Readonly<Record<string, string>> => ({
  HOME: process.env["HOME"] ?? state,
  PATH: process.env["PATH"] ?? DEFAULT_PATH,
  ...(process.env["LANG"] !== undefined && { LANG: process.env["LANG"] }),
  ...Object.fromEntries(env),
})

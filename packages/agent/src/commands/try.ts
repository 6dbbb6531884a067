import { confirmResult, softStateOf } from "@tocsin/contract/checks/confirmResult"
import { EXIT_CODES } from "@tocsin/contract/checks/exitCodes"
import { headlineOf } from "@tocsin/contract/formats/headline"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { type CheckStatus, wireEvent } from "@tocsin/reporting/agent/CheckReport"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import type { StartedRun } from "../checks/runCommand.ts"
import { DEFAULT_PATH, noteName, startCheck } from "../checks/startCheck.ts"
import { awakeClock, systemClock } from "../clock/Clock.ts"
import type { AgentConfig, RunCheck } from "../config/readConfig.ts"
import { worstOf } from "../probes/Probe.ts"
import { MILLIS_PER_SECOND, secondsText } from "../probes/network.ts"
import { actAsOwner, spoolPath } from "../spool/StateFolder.ts"
import { complain, loadConfig, print, readOptions, reasonOf, UsageError } from "./commandLine.ts"
import { requireCheckId, withSpool } from "./report.ts"

/**
 * `tocsin-agent try CHECK`: runs a check as the running agent would, and shows its result; with `--all`,
 * each check in turn. Sends and keeps nothing. The exit code is that of a plugin, by the worst result.
 */
export const tryCheck = async (argv: ReadonlyArray<string>): Promise<number> => {
  const { args, all: isAll = false, json, config: file, state } = readOptions(argv, ["json", "all"])
  const [id, extra] = isAll ? [undefined, ...args] : args
  if (extra !== undefined) throw new UsageError(`${extra} is not expected here`)
  const checkId = isAll ? undefined : requireCheckId(id)
  // The agent has the variables of its unit, not those of the caller.
  if (actAsOwner(state)) Object.assign(process.env, { HOME: state, PATH: DEFAULT_PATH })
  const config = loadConfig(file)
  if (config === undefined) return EXIT_CODES.unknown
  const clock = awakeClock(systemClock)
  let run: StartedRun | undefined
  let isStopped = false
  const stop = (): void => {
    isStopped = true
    run?.stop()
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop)
  const trials: Array<Trial> = []
  for (const check of checkId === undefined ? runChecksOf(config) : [runCheckOf(config, checkId)]) {
    if (isStopped) break
    const { status: before, note } = lastOf(state, check.id)
    run = startCheck(check, { state: existsSync(state) ? resolve(state) : "/", clock, note })
    const outcome = await run.outcome
    await run.gone
    const trial = trialOf(check, outcome, before)
    trials.push(trial)
    if (!isAll && !json) for (const line of lines(trial, check, before)) print(line)
  }
  clock.stop()
  if (json) print(plainLine(JSON.stringify(isAll ? trials : trials[0])))
  else if (isAll) for (const line of tableOf(trials)) print(line)
  return EXIT_CODES[worstOf(trials)]
}

const runChecksOf = ({ checks }: AgentConfig): ReadonlyArray<RunCheck> =>
  [...checks.values()].filter((check) => check.kind === "run")

/** A row for each check, with the headline of its output. */
const tableOf = (trials: ReadonlyArray<Trial>): ReadonlyArray<string> => {
  const rows = trials.map(({ check, status, duration_ms: millis, output }) => [
    check,
    status,
    secondsText(millis / MILLIS_PER_SECOND),
    plainLine(headlineOf(output) ?? ""),
  ])
  const all = [["CHECK", "STATUS", "DURATION", "OUTPUT"], ...rows]
  const widthOf = (column: number) => Math.max(...all.map((row) => row[column]?.length ?? 0))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widthOf(column)))
      .join("  ")
      .trimEnd(),
  )
}

const runCheckOf = (config: AgentConfig, id: string): RunCheck => {
  const check = config.checks.get(id)
  const names = runChecksOf(config).map((one) => one.id)
  const others = names.length === 0 ? "the configuration runs none" : `use one of ${names.join(", ")}`
  if (check === undefined) throw new UsageError(`there is no check ${id}: ${others}`)
  if (check.kind === "run") return check
  throw new UsageError(`${id} is report_only, so the agent does not run it: ${others}`)
}

/** The last status of a check in the spool, by which `confirm` judges, and its probe's note. */
const lastOf = (
  state: string,
  checkId: string,
): { readonly status?: CheckStatus | undefined; readonly note?: string | undefined } => {
  if (!existsSync(spoolPath(state))) return {}
  try {
    return withSpool(state, (file) => ({
      status: file.states().get(checkId)?.status,
      note: file.notes().get(noteName(checkId)),
    }))
  } catch (error) {
    complain(`the check is tried as if it were new: ${reasonOf(error)}`)
    return {}
  }
}

/** The first line, performance data behind a bar, more text, and behind a second bar nothing but such data, of any lines. */
const PLUGIN_OUTPUT = /^([^|\n]*)\|?([^\n]*)\n?([^|]*)\|?(.*)$/s

/** The output of `try --json`. Its result is what the agent would send; null where `confirm` holds it back. */
const trialOf = (
  check: RunCheck,
  outcome: Awaited<StartedRun["outcome"]>,
  before: CheckStatus | undefined,
) => {
  const { id, confirm, incidentKey, notificationsEnabled } = check
  const { status, output, durationMillis } = outcome
  const { isReported } = confirmResult(softStateOf(before), status, confirm)
  const report = { ...outcome, checkId: id, notificationsEnabled, incidentKey }
  // Each run has another ID.
  const { event_id: _, ...result } = wireEvent(report, { id: "", at: systemClock.wall() })
  const [, line = "", data = "", text = "", more = ""] = PLUGIN_OUTPUT.exec(output) ?? []
  return {
    check: id,
    status,
    exit_code: EXIT_CODES[status],
    duration_ms: Math.round(durationMillis),
    output: [line, ...text.split("\n")]
      .map((one = "") => one.trimEnd())
      .join("\n")
      .trimEnd(),
    performance_data: `${data}\n${more}`
      .split("\n")
      .flatMap((one) => one.trim() || [])
      .join(" "),
    result: isReported ? result : null,
  }
}

type Trial = ReturnType<typeof trialOf>

const lines = (trial: Trial, check: RunCheck, before: CheckStatus | undefined): ReadonlyArray<string> => {
  const { bad = 1, good = 1 } = check.confirm ?? {}
  const [wanted, name] = trial.status === "ok" ? [good, "good"] : [bad, "bad"]
  const former = before === undefined ? "the first of this check" : `the last one was ${before}`
  const isSent = trial.result !== null
  const fields = {
    status: trial.status,
    "exit code": String(trial.exit_code),
    duration: secondsText(trial.duration_ms / MILLIS_PER_SECOND),
    output: trial.output,
    performance: trial.performance_data,
    result: `${isSent ? "would be sent" : `not sent: confirm.${name} waits for ${wanted} in a row`}; ${former}`,
  }
  const shown = Object.entries(fields).filter(([, value]) => value !== "")
  return shown.flatMap(([label, value]) =>
    value
      .split("\n")
      .map((line, index) => `${(index === 0 ? label : "").padEnd(14)}${plainLine(line)}`.trimEnd()),
  )
}

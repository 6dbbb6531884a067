import { EXIT_CODES } from "@tocsin/contract/exitCodes"
import type { CheckReport } from "../agent/CheckReport.ts"
import { nextDue } from "../agent/Schedule.ts"
import type { CheckFunction, Finding } from "./ProgramAgent.ts"
import type { Platform } from "./Platform.ts"

const TIMED_OUT = 124
const LATE = Symbol("late")

type Outcome = Pick<CheckReport, "status" | "exitCode" | "output" | "durationMillis">

/** A check that a program runs. */
export interface ProgramCheck {
  readonly everyMillis: number
  readonly timeoutMillis: number
  readonly run: CheckFunction
  readonly report: (outcome: Outcome) => void
}

const found = (finding: Finding): Pick<Outcome, "status" | "exitCode" | "output"> => {
  if (typeof finding !== "object" || finding === null)
    return { status: "ok", exitCode: EXIT_CODES.ok, output: typeof finding === "string" ? finding : "" }
  const { status, text = "" } = finding
  return Object.hasOwn(EXIT_CODES, status)
    ? { status, exitCode: EXIT_CODES[status], output: String(text) }
    : {
        status: "unknown",
        exitCode: EXIT_CODES.unknown,
        output: `the check returned the status ${String(status)}; return ok, warning, critical or unknown`,
      }
}

const failed = (error: unknown): Pick<Outcome, "status" | "exitCode" | "output"> => ({
  status: "critical",
  exitCode: EXIT_CODES.critical,
  output: error instanceof Error ? error.message || error.name : String(error),
})

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`

const timedOut = (output: string): Pick<Outcome, "status" | "exitCode" | "output"> => ({
  status: "unknown",
  exitCode: TIMED_OUT,
  output,
})

/** Runs a check now, and at each deadline until the signal ends it. */
export const runCheck = async (
  { everyMillis, timeoutMillis, run, report }: ProgramCheck,
  { clock, sleep }: Pick<Platform, "clock" | "sleep">,
  ending: AbortSignal,
): Promise<void> => {
  let running: { readonly since: number; readonly end: Promise<unknown> } | undefined
  const runOnce = async (): Promise<void> => {
    const since = clock.steady()
    const limit = new AbortController()
    const signal = AbortSignal.any([ending, limit.signal])
    const outcome = (async () => found(await run(signal)))().catch(failed)
    const started = { since, end: outcome }
    running = started
    void outcome.then(() => {
      if (running === started) running = undefined
    })
    const waiting = new AbortController()
    const late = sleep(timeoutMillis, AbortSignal.any([ending, waiting.signal])).then(() => LATE)
    const first = await Promise.race([outcome, late])
    waiting.abort()
    if (ending.aborted) return
    if (first === LATE) limit.abort(new Error(`timed out after ${seconds(timeoutMillis)}`))
    report({
      ...(first === LATE ? timedOut(`timed out after ${seconds(timeoutMillis)}`) : (first as Outcome)),
      durationMillis: clock.steady() - since,
    })
  }
  for (let due = clock.steady(); !ending.aborted;) {
    if (running === undefined) await runOnce()
    // Without this the check would look as if it had not been due.
    else {
      const output = `still running after ${seconds(clock.steady() - running.since)}`
      report({ ...timedOut(output), durationMillis: clock.steady() - running.since })
    }
    due = nextDue(due, everyMillis, clock.steady())
    await sleep(due - clock.steady(), ending)
  }
}

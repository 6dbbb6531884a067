import { afterMillis } from "../clock/awakeClock.ts"
import { outcomeOf } from "../checks/RunOutcome.ts"
import type { StartedRun } from "../checks/runCommand.ts"
import type { Clock } from "@tocsin/reporting/agent/Clock"
import { wordsOf } from "../sending/wordsOf.ts"
import { judge } from "./Finding.ts"
import type { ProbeConfig } from "./probes.ts"

/** Runs a probe as if it were a command: its result is there at its deadline, whatever becomes of it. */
export const runProbe = (
  config: ProbeConfig,
  { timeoutMillis, clock }: { readonly timeoutMillis: number; readonly clock: Clock },
): StartedRun => {
  const begun = clock.steady()
  const ended = new AbortController()
  const { title, run } = config
  let isOver = false
  const finding = run({ clock, signal: ended.signal }).finally(() => (isOver = true))
  const work = finding.then(
    (found) => ({ ...judge(title, found), droppedBytes: 0 }),
    (error: unknown) => ({
      status: "unknown" as const,
      exitCode: 3,
      output: `${title} UNKNOWN - ${wordsOf(error)}`,
      droppedBytes: 0,
    }),
  )
  let cancelDeadline = (): void => {}
  const deadline = new Promise<ReturnType<typeof outcomeOf>>((resolve) => {
    const end = () => resolve(outcomeOf({ kind: "timedOut", timeoutMillis }))
    cancelDeadline = afterMillis(clock, timeoutMillis, end)
  })
  const outcome = Promise.race([work, deadline]).then((result) => {
    cancelDeadline()
    return { ...result, durationMillis: clock.steady() - begun }
  })
  return {
    outcome,
    gone: outcome.then(async () => {
      ended.abort()
      // A probe that hangs in the system, such as on the file system of a dead server, is examined
      // again later.
      const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MILLIS).unref())
      if (!isOver) await Promise.race([work, patience])
      return isOver
    }),
    isAlive: () => !isOver,
    stop: () => ended.abort(),
  }
}

const PATIENCE_MILLIS = 1_000

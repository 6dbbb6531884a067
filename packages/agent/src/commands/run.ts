import { lastOutput } from "@tocsin/contract/formats/outputText"
import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import type { CheckReport } from "@tocsin/reporting/agent/CheckReport"
import { type CapturedText, endText, outcomeOf, STATUSES } from "../checks/runCommand.ts"
import { duration, oneOf } from "../config/Reader.ts"
import { systemClock } from "../clock/Clock.ts"
import { keep, notesWithHanded } from "../jobs/handOver.ts"
import { Job } from "../jobs/Job.ts"
import {
  identify,
  isRunning,
  lostJobs,
  noteOf,
  ownNote,
  SEVERITIES,
  startedHere,
  type StartedJob,
  startedJobs,
} from "../jobs/StartedJob.ts"
import { asOwner, isGuest, makeStateFolder, spoolPath } from "../spool/StateFolder.ts"
import { complain, readOptions, reasonOf, UsageError, valueOf } from "./commandLine.ts"
import {
  configuredCheck,
  incidentKeyOf,
  requireCheckId,
  spoolReport,
  decideTerms,
  withSpool,
} from "./report.ts"

/** A run of the check is left out while another is under way. */
const OVERLAPS_EXIT = 75

const severity = oneOf(...SEVERITIES)
/** Timers take 24 days at most. */
const timeout = duration({ max: "7d" })

/** Reads `CHECK [OPTION…]`: where the result of a job goes, and what it means. */
const readTarget = (argv: ReadonlyArray<string>) => {
  const own = ["incident-key", "severity", "nagios", "timeout", "no-overlap"] as const
  const options = readOptions(argv, own)
  const [id, extra] = options.args
  if (extra !== undefined) throw new UsageError(`${extra} is not expected before --`)
  const checkId = requireCheckId(id)
  const configured = configuredCheck(options, checkId)?.severity
  return {
    options,
    checkId,
    incidentKey: incidentKeyOf(options),
    severity:
      options.severity === undefined
        ? (configured ?? "critical")
        : valueOf(severity, "--severity", options.severity),
    timeoutMillis: options.timeout === undefined ? undefined : valueOf(timeout, "--timeout", options.timeout),
  }
}

type Target = ReturnType<typeof readTarget>

/** Trouble with the agent never fails a job: it is only complained about. */
const attempted = <A>(trouble: string, work: () => A): A | undefined => {
  try {
    return work()
  } catch (error) {
    complain(`${trouble}: ${reasonOf(error)}`)
    return undefined
  }
}

/**
 * `tocsin-agent run CHECK -- COMMAND…`: passes output, signals and exit code through, and keeps the
 * result for the server.
 */
export const run = async (argv: ReadonlyArray<string>): Promise<number> => {
  const split = argv.indexOf("--")
  const command = split < 0 ? [] : argv.slice(split + 1)
  if (command.length === 0)
    throw new UsageError("write the command after --: tocsin-agent run CHECK -- COMMAND…")
  const job = new Job()
  const target = attempted("the result is not reported", () => readTarget(argv.slice(0, split)))
  const isAlone = target?.options["no-overlap"] === true
  const former = isAlone && attempted("the job runs without its overlap guard", () => start(target, isAlone))
  if (target !== undefined && former) return leaveOut(target, former)
  const { end, captured, durationMillis, outputEnded } = await job.run({
    command,
    timeoutMillis: target?.timeoutMillis,
    onStart: (pid) => {
      try {
        if (target !== undefined) start(target, false, pid)
      } catch {
        // The report says the same at the end.
      }
    },
  })
  const { status, exitCode, output } = outcomeOf(end, captured)
  if (end.kind === "notStarted") complain(output)
  if (target !== undefined) {
    const isPlugin = target.options.nagios && end.kind === "exited" && end.code < STATUSES.length
    const last =
      end.kind === "notStarted" ? { output } : jobOutput(captured, isPlugin ? undefined : endText(end))
    report(target, { status, exitCode, durationMillis, ...last })
  }
  job.release()
  await outputEnded
  return exitCode
}

/**
 * Records that this run has started, and reports former ones of its check that were lost. Records
 * nothing beside a run that still runs, and returns that one, where this one has to be alone.
 */
const start = (target: Target, isAlone: boolean, pid?: number): StartedJob | undefined => {
  const { options, checkId } = target
  const terms = { ...decideTerms(options, target), severity: target.severity }
  makeStateFolder(options.state)
  const startedAt = (at: number) => ({
    ...startedHere(checkId, at, terms),
    job: pid === undefined ? undefined : identify(pid),
  })
  const formerOf = (own: StartedJob, notes: ReadonlyMap<string, string>) =>
    isAlone
      ? startedJobs(notes).find((one) => one.checkId === checkId && one.name !== own.name && isRunning(one))
      : undefined
  let former: StartedJob | undefined
  asOwner(options.state, () => {
    const path = spoolPath(options.state)
    if (isGuest(path)) {
      const own = startedAt(systemClock.wall())
      if (isAlone) former = formerOf(own, notesWithHanded(path))
      const [name, note] = noteOf(own)
      return former ?? keep(path, { run: name, note })
    }
    return withSpool(options.state, (file, at) =>
      file.decide((notes) => {
        const own = startedAt(at)
        former = formerOf(own, notes)
        if (former !== undefined) return { add: [] }
        const lost = lostJobs(notes, at, checkId)
        return { add: lost.add, notes: new Map([...lost.notes, noteOf(own)]) }
      }),
    )
  })
  return former
}

/** Reports that the former run of a check is still under way. */
const leaveOut = (target: Target, { at, job, wrapper }: StartedJob): number => {
  const since = `the run of ${new Date(at).toISOString()} still runs (process ${(job ?? wrapper).pid})`
  const output = `not started: ${since}`
  complain(output)
  const { checkId, incidentKey } = target
  attempted("the result is not reported", () =>
    spoolReport(target.options, {
      checkId,
      incidentKey,
      status: "warning",
      exitCode: OVERLAPS_EXIT,
      output,
      durationMillis: 0,
    }),
  )
  return OVERLAPS_EXIT
}

/** The end of what a job wrote, below how it ended, if it failed. */
const jobOutput = ({ text, droppedBytes }: CapturedText, end: string | undefined) => {
  const kept = lastOutput(withoutTrailing(text, "\r\n"), { end, droppedBytes })
  return { isCut: kept.output_truncated, output: kept.output ?? "" }
}

type Ended = Pick<CheckReport, "status" | "exitCode" | "durationMillis" | "output" | "isCut">

const report = (target: Target, { status, ...outcome }: Ended): void => {
  const { options, checkId, incidentKey } = target
  const judged = options.nagios ? status : outcome.exitCode === 0 ? "ok" : target.severity
  attempted("the result is not reported", () =>
    spoolReport(options, { ...outcome, checkId, incidentKey, status: judged }, ownNote(checkId)),
  )
}

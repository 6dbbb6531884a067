import { type CheckReport, type CheckStatus, newEventId } from "@tocsin/reporting/agent/CheckReport"
import type { PendingResult } from "@tocsin/reporting/agent/ResultQueue"
import { readlinkSync } from "node:fs"
import { groupsOf, hasEnded, signalled, ticksOf } from "../checks/ProcessSession.ts"
import { fieldsOf } from "@tocsin/reporting/agent/Answer"
import { bootId, savedNote } from "../spool/savedNote.ts"
import { SpoolFile } from "../spool/SpoolFile.ts"

/** The status of a job that failed, in order of severity. */
export const SEVERITIES = ["warning", "unknown", "critical"] as const satisfies ReadonlyArray<CheckStatus>
export type JobSeverity = (typeof SEVERITIES)[number]

/** A result's terms for its check, besides the way in which the job ended. */
type JobTerms = Pick<CheckReport, "notificationsEnabled" | "incidentKey"> & {
  readonly severity: JobSeverity
}

/** A run whose end is not reported, or whose session is not empty yet, as a note of the spool remembers it. */
export interface StartedJob {
  readonly name: string
  readonly checkId: string
  /** In milliseconds since 1970. */
  readonly at: number
  /** `tocsin-agent run`, which reports the end. */
  readonly wrapper: ProcessIdentity
  readonly job: ProcessIdentity | undefined
  /** Whether its end is reported, while processes of its session still run. */
  readonly isReported: boolean
  readonly terms: JobTerms
}

const PREFIX = "run "
/** An exit code that no program returns: the run was lost. */
const LOST_EXIT = 255

/** The note of the checks that `tocsin-agent run` has reported: the agent declares them as jobs. */
export const JOBS_NOTE = "jobs"

/** The checks of a note {@link JOBS_NOTE}. */
export const savedJobs = (saved: string | undefined): ReadonlySet<string> =>
  new Set(Object.keys(fieldsOf(savedNote(saved))))

/** The note after a run of a check. */
export const jobsNote = (saved: string | undefined, checkId: string): string =>
  JSON.stringify({ ...fieldsOf(savedNote(saved)), [checkId]: true })

/** Whether a spool may remember a run that was lost. */
export const hasStarted = (notes: ReadonlyMap<string, string>): boolean =>
  [...notes.keys()].some((name) => name.startsWith(PREFIX))

/** The note of this process's run. */
export const ownNote = (checkId: string): string => `${PREFIX}${checkId} ${process.pid}`

/** The run of this process. */
export const startedHere = (checkId: string, at: number, terms: JobTerms): StartedJob => ({
  name: ownNote(checkId),
  checkId,
  at,
  wrapper: identify(process.pid),
  job: undefined,
  isReported: false,
  terms,
})

/** The note that remembers a run. */
export const noteOf = ({ name, ...run }: StartedJob): readonly [string, string] => [name, JSON.stringify(run)]

/** The runs that the notes of a spool remember. Members of the group can write them too. */
export const startedJobs = (notes: ReadonlyMap<string, string>): ReadonlyArray<StartedJob> =>
  [...notes].flatMap(([name, text]) => {
    const { checkId, at, wrapper, job, isReported, terms } = fieldsOf(savedNote(text))
    const process = savedIdentity(wrapper)
    const isRun = name.startsWith(PREFIX) && typeof checkId === "string" && typeof at === "number"
    if (!isRun || process === undefined || Number.isNaN(new Date(at).getTime())) return []
    const run = { name, checkId, at, wrapper: process, job: savedIdentity(job), terms: savedTerms(terms) }
    return [{ ...run, isReported: isReported === true }]
  })

const savedTerms = (note: unknown): JobTerms => {
  const { severity, notificationsEnabled, incidentKey } = fieldsOf(note)
  return {
    severity: SEVERITIES.find((one) => one === severity) ?? "critical",
    notificationsEnabled: notificationsEnabled !== false,
    incidentKey: typeof incidentKey === "string" ? incidentKey : undefined,
  }
}

/** Whether the job of a run is still there, with or without its wrapper: any process of its session. */
export const isRunning = ({ wrapper, job }: StartedJob): boolean =>
  stateOfProcess(wrapper) === "runs" || (job !== undefined && stateOfSession(job) === "runs")

/** Whether the job of a run is gone, and the process that reports its end, too. */
const isGone = (run: StartedJob): boolean => stateOfProcess(run.wrapper) === "ended" && !isRunning(run)

/**
 * The notes of a run as it reports its end: it is remembered while processes of its session run, so that none with
 * `--no-overlap` starts beside them.
 */
export const reportedNotes = (notes: ReadonlyMap<string, string>, name: string): Map<string, string> => {
  const own = startedJobs(notes).find((run) => run.name === name)
  const isLeft = own?.job !== undefined && stateOfSession(own.job) === "runs"
  return new Map([isLeft ? noteOf({ ...own, isReported: true }) : [name, ""]])
}

/** The result of a run that was lost. */
const lostReport = ({ checkId, at, terms }: StartedJob): CheckReport => ({
  checkId,
  status: terms.severity,
  exitCode: LOST_EXIT,
  durationMillis: 0,
  output: `started at ${new Date(at).toISOString()} and never reported its end: tocsin-agent run was killed, or the host stopped`,
  notificationsEnabled: terms.notificationsEnabled,
  incidentKey: terms.incidentKey,
})

/** The results of lost runs among the notes of a spool, and the notes of gone ones, emptied; of one check, if it is named. */
export const lostJobs = (notes: ReadonlyMap<string, string>, at: number, checkId?: string) => {
  const gone = startedJobs(notes).filter(
    (one) => (checkId === undefined || one.checkId === checkId) && isGone(one),
  )
  const lost = gone.filter(({ isReported }) => !isReported)
  return {
    add: lost.map((one): PendingResult => ({ report: lostReport(one), id: newEventId(at), at })),
    notes: new Map(gone.map(({ name }) => [name, ""])),
  }
}

/** Spools the results of lost runs. `at` is the corrected time. */
export const reportLostJobs = (path: string, at: number): void => {
  using file = SpoolFile.open(path)
  file.decide((notes) => lostJobs(notes, at))
}

/** A process among all that ever had its number. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it began, in the system's ticks; unknown where the system does not show it. */
  readonly ticks: string | undefined
  readonly boot: string
  /** The namespace of its number: a container counts for itself. */
  readonly space: string
}

export const identify = (pid: number): ProcessIdentity => ({
  pid,
  ticks: ticksOf(pid),
  boot: bootId(),
  space: spaceOf(),
})

/** A process by its saved text, which members of the group can write too. */
export const savedIdentity = (note: unknown): ProcessIdentity | undefined => {
  const { pid, ticks, boot, space } = fieldsOf(note)
  const isProcess = typeof pid === "number" && Number.isInteger(pid) && pid > 1
  if (!isProcess || typeof boot !== "string" || typeof space !== "string") return undefined
  return { pid, boot, space, ticks: typeof ticks === "string" ? ticks : undefined }
}

type ProcessState = "runs" | "ended" | "unknown"

/** Whether a process still runs; `unknown` for one of another container, and on systems other than Linux. */
export const stateOfProcess = (identity: ProcessIdentity): ProcessState => {
  const { pid, boot, space } = identity
  if (space === "") return "unknown"
  if (boot !== bootId()) return "ended"
  if (space !== spaceOf()) return "unknown"
  return !signalled(pid, 0) || hasEnded(identity) ? "ended" : "runs"
}

/** The same for a process with all that remain of the session that it began. */
export const stateOfSession = (leader: ProcessIdentity): ProcessState => {
  const state = stateOfProcess(leader)
  if (state !== "ended" || leader.boot !== bootId()) return state
  return (groupsOf(leader)?.size ?? 0) > 0 ? "runs" : "ended"
}

const spaceOf = (): string => {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}

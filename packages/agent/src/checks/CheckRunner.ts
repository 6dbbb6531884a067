import type { CheckReport, CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { nextDue } from "@tocsin/reporting/agent/Schedule"
import { createHash } from "node:crypto"
import type { AgentConfig, RunCheck } from "../config/readConfig.ts"
import type { ProbeConfig } from "../probes/Probe.ts"
import { outcomeOf, type RunOutcome, type StartedRun } from "./runCommand.ts"
import { confirmResult, type SoftState, softStateOf } from "@tocsin/contract/checks/confirmResult"

/** Where in its period a check runs: the same on every start, and spread over the checks of all agents. */
export const offsetOf = (agentId: string, checkId: string, everyMillis: number): number => {
  const hash = createHash("sha256").update(`${agentId}\0${checkId}`).digest()
  return Number(hash.readBigUInt64BE() % BigInt(everyMillis))
}

/** A check that has no recent result runs this soon. */
const FIRST_RUN_WITHIN_MILLIS = 10_000

export interface RunnerOptions {
  readonly clock: Clock
  readonly start: (check: RunCheck) => StartedRun
  readonly report: (report: CheckReport) => void
  /** Takes a probe's note for its next run, in the same moment as its result. */
  readonly keep: (checkId: string, note: string) => void
  /** The last reported status of a check, and when. */
  readonly lastOf: (
    checkId: string,
  ) => { readonly status: CheckStatus; readonly observedAt: number } | undefined
  /** A due run was left out, because the one before it is not over, or not even begun for want of room. */
  readonly skipped: (checkId: string) => void
}

interface Entry {
  check: RunCheck
  due: number
  /** An earlier run that confirms a change of status. */
  again: number | undefined
  soft: SoftState
  run: StartedRun | undefined
  /** Since when its processes survive SIGKILL. */
  stuckSince: number | undefined
  /** When it may start again at the earliest. */
  rested: number
}

/** The agent whose checks run, and how many of each lane at once. */
interface RunPlan extends Pick<AgentConfig, "agentId" | "checks" | "maxParallel"> {
  /** The least time between two starts of a check, whatever becomes of its period. */
  readonly apartMillis?: number
}

/** A check that hangs delays others of its lane, and none of another. */
type Lane = "command" | ProbeConfig["lane"]

const laneOf = ({ work }: RunCheck): Lane => (work.kind === "command" ? "command" : work.probe.lane)

/** Runs each check when it is due, in order of due time, and never twice at once. */
export class CheckRunner {
  readonly #options: RunnerOptions
  readonly #entries = new Map<string, Entry>()
  #plan: RunPlan = { agentId: "", checks: new Map(), maxParallel: 1 }
  readonly #running: Record<Lane, number> = { command: 0, network: 0, host: 0 }
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  /** Takes another configuration. Checks that stay the same keep their deadlines. */
  plan(plan: RunPlan): void {
    const isSameAgent = plan.agentId === this.#plan.agentId
    this.#plan = plan
    for (const [id, entry] of this.#entries) {
      if (plan.checks.get(id)?.kind === "run") continue
      entry.run?.stop()
      this.#entries.delete(id)
    }
    for (const [id, check] of plan.checks) {
      if (check.kind !== "run") continue
      const entry = this.#entries.get(id)
      if (entry !== undefined && isSameAgent && entry.check.everyMillis === check.everyMillis)
        entry.check = check
      else if (entry !== undefined) Object.assign(entry, this.#begin(check, entry))
      else this.#entries.set(id, this.#begin(check, undefined))
    }
    this.#startDue()
  }

  /** Checks whose processes survive SIGKILL. */
  stuck(): ReadonlyArray<string> {
    return [...this.#entries].filter(([, { stuckSince }]) => stuckSince !== undefined).map(([id]) => id)
  }

  /** Begins nothing more, ends what runs, and waits until its processes are gone. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    const runs = [...this.#entries.values()].flatMap(({ run }) => (run === undefined ? [] : [run]))
    for (const run of runs) run.stop()
    await Promise.all(runs.map((run) => run.gone))
  }

  /** An entry with its first deadline. Afterwards deadlines only add whole periods. */
  #begin(check: RunCheck, before: Entry | undefined): Entry {
    const { clock, lastOf } = this.#options
    const { id, everyMillis } = check
    const last = lastOf(id)
    const wall = clock.wall()
    const offset = offsetOf(this.#plan.agentId, id, everyMillis)
    const untilPhase = (((offset - wall) % everyMillis) + everyMillis) % everyMillis
    const isMissed = last === undefined || Math.abs(wall - last.observedAt) >= everyMillis
    const wait = isMissed ? Math.min(untilPhase, offset % FIRST_RUN_WITHIN_MILLIS) : untilPhase
    const rested = before?.rested ?? 0
    return {
      check,
      rested,
      due: Math.max(clock.steady() + wait, rested),
      again: undefined,
      soft: before?.soft ?? softStateOf(last?.status),
      run: before?.run,
      stuckSince: before?.stuckSince,
    }
  }

  /** Starts what is due, as far as there is room, and sets the timer for the next time. */
  #startDue(): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    const now = this.#options.clock.steady()
    const all = [...this.#entries.values()]
    const due = all.filter((entry) => dueOf(entry) <= now).sort((a, b) => dueOf(a) - dueOf(b))
    for (const entry of due) {
      if (entry.run !== undefined) this.#skip(entry, now)
      else if (this.#running[laneOf(entry.check)] < this.#plan.maxParallel) this.#start(entry, now)
      else if (now >= entry.due + entry.check.everyMillis) this.#options.skipped(entry.check.id)
    }
    const next = all.map(dueOf).filter((one) => one > now)
    // Every check that waits for room is considered when a run ends.
    if (next.length === 0) return
    const wait = Math.min(...next) - now
    const millis = Math.max(1, Math.min(wait, LONGEST_TIMER_MILLIS))
    this.#timer = setTimeout(() => this.#wake(now + millis), millis)
  }

  /** After a standstill, the ends of runs are read before it is decided what to skip. */
  #wake(expected: number): void {
    const isLate = this.#options.clock.steady() - expected > LATE_MILLIS
    if (isLate) this.#timer = setTimeout(() => this.#startDue(), READING_MILLIS)
    else this.#startDue()
  }

  #skip(entry: Entry, now: number): void {
    const { check } = entry
    entry.due = nextDue(entry.due, check.everyMillis, now)
    entry.again = undefined
    this.#options.skipped(check.id)
    // Without this the check would look as if it had not been due.
    if (entry.stuckSince === undefined) return
    this.#report(entry, outcomeOf({ kind: "stuck", sinceMillis: now - entry.stuckSince }), 0)
  }

  #start(entry: Entry, now: number): void {
    const { check } = entry
    entry.rested = now + (this.#plan.apartMillis ?? 0)
    // A start that waited for room is late, and the next one is not.
    entry.due = Math.max(nextDue(entry.due, check.everyMillis, now), entry.rested)
    entry.again = undefined
    const lane = laneOf(check)
    this.#running[lane] += 1
    const run = this.#options.start(check)
    entry.run = run
    void this.#follow(entry, run, lane)
  }

  async #follow(entry: Entry, run: StartedRun, lane: Lane): Promise<void> {
    const outcome = await run.outcome
    if (!this.#isStopped && this.#isPlanned(entry)) {
      this.#report(entry, outcome, outcome.durationMillis)
      if (outcome.note !== undefined) this.#options.keep(entry.check.id, outcome.note)
    }
    const isGone = await run.gone
    this.#running[lane] -= 1
    if (isGone) entry.run = undefined
    else this.#watch(entry, run)
    this.#startDue()
  }

  /** A run whose processes cannot be ended gives its place to others, and is over when they are. */
  #watch(entry: Entry, run: StartedRun): void {
    entry.stuckSince ??= this.#options.clock.steady()
    setTimeout(() => {
      if (this.#isStopped) return
      if (run.isAlive()) return this.#watch(entry, run)
      entry.run = undefined
      entry.stuckSince = undefined
      this.#startDue()
    }, BETWEEN_LOOKS_MILLIS)
  }

  #isPlanned(entry: Entry): boolean {
    return this.#entries.get(entry.check.id) === entry
  }

  #report(entry: Entry, outcome: RunOutcome, durationMillis: number): void {
    const { check } = entry
    const { state, isReported } = confirmResult(entry.soft, outcome.status, check.confirm)
    entry.soft = state
    if (!isReported && check.confirm !== undefined) {
      entry.again = this.#options.clock.steady() + check.confirm.everyMillis
      return
    }
    const { id: checkId, notificationsEnabled, incidentKey } = check
    const { note: _, ...result } = outcome
    this.#options.report({ ...result, checkId, durationMillis, notificationsEnabled, incidentKey })
  }
}

const dueOf = ({ due, again }: Entry): number => Math.min(due, again ?? due)

const BETWEEN_LOOKS_MILLIS = 1_000
const LATE_MILLIS = 1_000
const READING_MILLIS = 200
/** Timers take 24 days at most. */
const LONGEST_TIMER_MILLIS = 3_600_000

import type { CheckReport } from "@tocsin/reporting/agent/CheckReport"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { type AgentConfig, checksText } from "../config/readConfig.ts"
import { awakeClock } from "../clock/Clock.ts"
import { CheckRunner } from "../checks/CheckRunner.ts"
import { noteName, orphanedNotes, startCheck } from "../checks/startCheck.ts"
import { takeHanded } from "../jobs/handOver.ts"
import { hasStarted, JOBS_NOTE, reportLostJobs, savedJobs } from "../jobs/StartedJob.ts"
import { KeyFile } from "../key/KeyFile.ts"
import { httpTransport } from "../sending/httpTransport.ts"
import { explainError } from "../sending/explainError.ts"
import { PlaceProber } from "../watches/PlaceProber.ts"
import { bootId, savedMark } from "../spool/savedNote.ts"
import { enrolling } from "@tocsin/reporting/agent/Answer"
import { Sender } from "@tocsin/reporting/agent/Sender"
import { within } from "@tocsin/reporting/program/Platform"
import { Spool, type SpooledResult } from "../spool/Spool.ts"
import { spoolPath } from "../spool/StateFolder.ts"
import { metricsPage, metricsServer } from "./metricsServer.ts"
import { type Growth, growthOf, savedGrowth, selfReport, type SelfState } from "./selfReport.ts"
import { CONFIGURED_NOTE, configuredNote, withoutRemoved } from "./removedChecks.ts"
import { statementsOf } from "./statementsOf.ts"
import { randomBytes } from "node:crypto"

interface DaemonOptions {
  readonly config: AgentConfig
  readonly state: string
  readonly clock: Clock
  readonly random: () => number
  readonly log: (message: string) => void
}

/** Results that come together are committed together. */
const GROUP_MILLIS = 200
/** How soon a report of another process is noticed. */
const LOOK_MILLIS = 1_000
const OWN_CHECK_MILLIS = 60_000
/** Soon after the start, so that a new host shows a result; not before the backlog could be sent. */
const FIRST_OWN_MILLIS = 5_000
const PROCESS_BYTES = 8
/** A stop waits for processes of checks up to this. */
const STOP_MILLIS = 6_000

/** A running agent: checks feed the spool, the sender empties it. */
export class Daemon {
  readonly #options: DaemonOptions
  readonly #spool: Spool
  readonly #runner: CheckRunner
  readonly #sender: Sender<SpooledResult>
  readonly #places: PlaceProber
  readonly #metrics: ReturnType<typeof metricsServer>
  readonly #awake: ReturnType<typeof awakeClock>
  #transport: ReturnType<typeof httpTransport>
  #config: AgentConfig
  #flushTimer: NodeJS.Timeout | undefined
  #wake: () => void = () => {}
  #version = -1
  /** The note of jobs that was stated last. */
  #jobs: string | undefined
  /** Until when the time was counted for which results wait, in steady milliseconds. */
  #countedAt: number
  #isStopped = false
  #notTaken = ""
  readonly #skipped = new Map<string, number>()
  readonly #timers: Array<NodeJS.Timeout> = []
  #sending: Promise<void> = Promise.resolve()

  constructor(options: DaemonOptions) {
    const { config, state, clock, random, log } = options
    this.#options = options
    this.#config = config
    this.#countedAt = clock.steady()
    this.#transport = httpTransport({ ca: config.ca?.reveal() })
    // The spool is opened first, and may need the time before the sender knows the server's.
    const made: { sender?: Sender<SpooledResult> } = {}
    const now = () => made.sender?.now() ?? Math.floor(clock.wall())
    const isServerTime = () => made.sender?.mark !== undefined
    this.#spool = Spool.open({ path: spoolPath(state), now, isServerTime, warn: log })
    this.#jobs = this.#spool.notes().get(JOBS_NOTE)
    const keys = new KeyFile(state)
    const sender = new Sender(
      {
        queue: this.#spool,
        keys,
        transport: enrolling({
          transport: { send: (request) => this.#transport.send(request) },
          token: () => this.#config.enrolmentToken,
          log,
          now: clock.wall,
        }),
        clock,
        process: randomBytes(PROCESS_BYTES).toString("hex"),
        boot: bootId(),
        mark: savedMark(this.#spool.notes().get("time_mark"), clock.sinceBoot()),
        random,
        log,
      },
      statementsOf(config, savedJobs(this.#jobs)),
    )
    made.sender = sender
    this.#sender = sender
    this.#metrics = metricsServer(() => this.#metricsPage(), log)
    this.#awake = awakeClock(clock)
    const reporting = {
      report: (report: CheckReport) => this.#record(() => this.#spool.record(report)),
      lastOf: (checkId: string) => this.#spool.states().get(checkId),
    }
    this.#runner = new CheckRunner({
      ...reporting,
      clock,
      start: (check) =>
        startCheck(check, { state, clock: this.#awake, note: this.#spool.notes().get(noteName(check.id)) }),
      keep: (checkId, note) => this.#record(() => this.#spool.setNote(noteName(checkId), note)),
      skipped: (checkId) => void this.#skipped.set(checkId, clock.steady()),
    })
    this.#places = new PlaceProber({
      ...reporting,
      clock: this.#awake,
      ask: async (asking) => this.#transport.ask({ ...asking, key: keys.current() }),
      agent: () => ({ ...this.#config, admission: sender.admission }),
    })
  }

  start(): void {
    this.#metrics.listen(this.#config.metricsPort)
    const { log } = this.#options
    log(`started as ${this.#config.agentId} with ${checksText(this.#config.checks.size)}`)
    this.#plan()
    this.#timers.push(setInterval(() => this.#lookAtOthers(), LOOK_MILLIS))
    this.#timers.push(setTimeout(() => this.#reportOwn(), FIRST_OWN_MILLIS))
    this.#timers.push(setInterval(() => this.#reportOwn(), OWN_CHECK_MILLIS))
    this.#sending = this.#send()
    this.#places.start()
  }

  /** Takes another configuration. */
  reconfigure(config: AgentConfig): void {
    this.#config = config
    this.#transport.close()
    this.#transport = httpTransport({ ca: config.ca?.reveal() })
    this.#restate()
    this.#plan()
    this.#places.reconfigure()
    this.#metrics.listen(config.metricsPort)
    this.#wake()
    this.#options.log(`reloaded: ${checksText(config.checks.size)}`)
  }

  /** Ends the checks, puts every result on the disk, and leaves unsent ones for the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#metrics.close()
    this.#awake.stop()
    for (const timer of this.#timers) clearInterval(timer)
    clearTimeout(this.#flushTimer)
    this.#wake()
    const ended = Promise.all([this.#runner.stop(), this.#places.stop()]).then(() => {
      this.#transport.close()
      return this.#sending
    })
    await within(STOP_MILLIS, ended)
    this.#transport.close()
    this.#spool.close()
  }

  #record(work: () => void): void {
    work()
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined
      this.#spool.flush()
      this.#wake()
    }, GROUP_MILLIS)
  }

  #plan(): void {
    this.#runner.plan(this.#config)
    const notes = this.#spool.notes()
    const orphaned = orphanedNotes(notes.keys(), this.#config.checks)
    const configured = configuredNote(notes.get(CONFIGURED_NOTE), this.#config.checks, this.#sender.now())
    this.#record(() => {
      orphaned.forEach((name) => this.#spool.setNote(name, ""))
      this.#spool.setNote(CONFIGURED_NOTE, configured)
    })
  }

  #metricsPage(): string {
    const notes = this.#spool.notes()
    const states = withoutRemoved(this.#spool.states(), notes.get(CONFIGURED_NOTE))
    return metricsPage({ own: this.#selfState(), states, notes })
  }

  #restate(): void {
    this.#jobs = this.#spool.notes().get(JOBS_NOTE)
    this.#sender.restate(statementsOf(this.#config, savedJobs(this.#jobs)))
  }

  #lookAtOthers(): void {
    this.#takeHanded()
    const version = this.#spool.version()
    if (version === this.#version) return
    this.#version = version
    // A check that a job reports for the first time is declared beside its result.
    if (this.#spool.notes().get(JOBS_NOTE) !== this.#jobs) this.#restate()
    this.#wake()
  }

  async #send(): Promise<void> {
    let said = ""
    while (!this.#isStopped) {
      let next: number
      try {
        next = await this.#sender.step()
        said = ""
        // After a request, `status` shows the answer.
        if (next <= this.#options.clock.steady()) this.#spool.flush()
      } catch (error) {
        // A defect in one step must not end the agent: the next one starts afresh.
        const words = `cannot send: ${explainError(error)}`
        if (words !== said) this.#options.log(words)
        said = words
        next = this.#options.clock.steady() + LOOK_MILLIS
      }
      const wait = next - this.#options.clock.steady()
      if (wait > 0 && !this.#isStopped) await this.#sleep(wait)
    }
  }

  #sleep(millis: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(millis, LONGEST_SLEEP_MILLIS))
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #reportOwn(): void {
    const now = this.#options.clock.steady()
    this.#spool.dropAged(now - this.#countedAt)
    this.#countedAt = now
    this.#reportLostJobs()
    const report = selfReport(this.#selfState())
    this.#record(() => this.#spool.record(report))
  }

  /** Said once for each cause: every second has a look. */
  #takeHanded(): void {
    try {
      takeHanded(spoolPath(this.#options.state))
      this.#notTaken = ""
    } catch (error) {
      const words = `results of other users wait: ${explainError(error)}`
      if (words !== this.#notTaken) this.#options.log(words)
      this.#notTaken = words
    }
  }

  /** A run that was killed with its wrapper, or with the host, reports nothing itself. */
  #reportLostJobs(): void {
    if (!hasStarted(this.#spool.notes())) return
    try {
      reportLostJobs(spoolPath(this.#options.state), this.#sender.now())
    } catch (error) {
      this.#options.log(`lost runs of jobs are not reported yet: ${explainError(error)}`)
    }
  }

  /** Remembered in the spool, so that a restart forgets no loss. */
  #growth(): ReadonlyMap<string, Growth> {
    const notes = this.#spool.notes()
    const growth = growthOf(savedGrowth(notes.get("growth")), notes, this.#sender.now())
    this.#spool.setNote("growth", JSON.stringify([...growth]))
    return growth
  }

  #selfState(): SelfState {
    const { clock } = this.#options
    const now = clock.steady()
    for (const [id, at] of this.#skipped) if (now - at > RECENT_MILLIS) this.#skipped.delete(id)
    const oldest = this.#spool.oldestAt()
    return {
      now: this.#sender.now(),
      backlog: this.#spool.extent().results,
      oldestAt: oldest,
      offset: this.#sender.offset,
      growth: this.#growth(),
      skipped: [...this.#skipped.keys()],
      stuck: this.#runner.stuck(),
      isOnDisk: this.#spool.isOnDisk,
      notTaken: this.#notTaken,
      refusedSchedule: this.#spool.notes().get("declaration_refused") || undefined,
      checks: this.#config.checks.size,
    }
  }
}

const RECENT_MILLIS = 3_600_000
const LONGEST_SLEEP_MILLIS = 60_000

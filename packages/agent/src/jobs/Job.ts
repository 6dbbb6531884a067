import { type ChildProcess, spawn } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { move } from "@tocsin/contract/TransitionTable"
import { ProcessGroup } from "../checks/ProcessGroup.ts"
import {
  type CapturedText,
  endOf,
  notStarted,
  OUTPUT_GRACE_MILLIS,
  type RunEnd,
} from "../checks/RunOutcome.ts"
import { systemClock } from "../clock/Clock.ts"
import { type JobPlace, JobTransitions, type JobTrigger } from "./JobTransitions.ts"
import { OutputTail } from "./OutputTail.ts"
import { type PassedSignal, passedSignals } from "./passedSignals.ts"

/** The command to run, and its time limit. */
export interface JobOptions {
  readonly command: ReadonlyArray<string>
  readonly timeoutMillis: number | undefined
  /** Called with the process of the job. */
  readonly onStart: (pid: number) => void
}

/** How a job ended. */
export interface EndedJob {
  readonly end: RunEnd
  readonly durationMillis: number
  readonly captured: CapturedText
  /** Resolves when no process holds the output any more. It is passed on until then. */
  readonly outputEnded: Promise<unknown>
}

/**
 * A job in its own session, so that a signal of the terminal, or to a process group, reaches it once:
 * from here. Moves by `JobTransitions`.
 */
export class Job {
  #place: JobPlace = "starting"
  #child: ChildProcess | undefined
  #group: ProcessGroup | undefined
  readonly #listeners: ReadonlyArray<readonly [NodeJS.Signals, () => void]>

  /** Takes every signal from here on; those that come before the job are passed on at its start. */
  constructor() {
    this.#listeners = [
      ...passedSignals.map((signal) => [signal.name, () => this.#pass(signal)] as const),
      ["SIGTSTP", () => this.#suspend()],
    ]
    for (const [name, listener] of this.#listeners) process.on(name, listener)
  }

  /** Has signals act on this process again. */
  release(): void {
    for (const [name, listener] of this.#listeners) process.off(name, listener)
  }

  /** Runs a command to its end; processes that it left in the background may continue. */
  async run({ command: [name = "", ...args], timeoutMillis, onStart }: JobOptions): Promise<EndedJob> {
    const tail = new OutputTail()
    const begun = systemClock.steady()
    const ended = (end: RunEnd, outputEnded: Promise<unknown>): EndedJob => ({
      end,
      durationMillis: systemClock.steady() - begun,
      captured: tail.captured(),
      outputEnded,
    })
    let child: ChildProcess
    try {
      child = spawn(name, args, { stdio: ["inherit", "pipe", "pipe"], detached: true })
    } catch (error) {
      // Arguments that the system cannot take.
      this.#move("refused")
      return ended(notStarted(error, name), Promise.resolve())
    }
    const outputEnded = new Promise((resolve) => child.once("close", resolve))
    if (child.stdout !== null) tail.passOn(child.stdout, process.stdout)
    if (child.stderr !== null) tail.passOn(child.stderr, process.stderr)
    if (child.pid === undefined) {
      const [error]: ReadonlyArray<unknown> = await new Promise((resolve) =>
        child.once("error", (...reasons) => resolve(reasons)),
      )
      this.#move("refused")
      return ended(notStarted(error, name), Promise.resolve())
    }
    this.#child = child
    this.#group = new ProcessGroup(child)
    this.#move("started")
    const exited = new Promise<RunEnd>((resolve) => {
      child.once("exit", (code, signal) => resolve(endOf(code, signal)))
    })
    onStart(child.pid)
    const end = await this.#limit(exited, this.#group, timeoutMillis)
    this.#move("ended")
    await Promise.race([outputEnded, sleep(OUTPUT_GRACE_MILLIS)])
    return ended(end, outputEnded)
  }

  /** The end of the job, or that its time was over. */
  async #limit(
    exited: Promise<RunEnd>,
    group: ProcessGroup,
    timeoutMillis: number | undefined,
  ): Promise<RunEnd> {
    if (timeoutMillis === undefined) return await exited
    const waiting = new AbortController()
    const over = sleep(timeoutMillis, undefined, { signal: waiting.signal }).catch(() => undefined)
    const end = await Promise.race([exited, over])
    waiting.abort()
    if (end !== undefined) return end
    this.#move("time_passed")
    await group.end(() => this.#move("outlived"))
    return { kind: "timedOut", timeoutMillis }
  }

  #pass({ name, trigger, to }: PassedSignal): void {
    if (this.#place !== "running" && this.#place !== "stopping") return
    this.#move(trigger)
    if (to === "all") this.#group?.signal(name)
    else this.#child?.kill(name)
  }

  /** The system does not let SIGTSTP stop a session without a terminal. SIGCONT is passed on as it comes. */
  #suspend(): void {
    this.#group?.signal("SIGSTOP")
    process.kill(process.pid, "SIGSTOP")
  }

  #move(trigger: JobTrigger): void {
    this.#place = move(JobTransitions, this.#place, trigger)
  }
}

import { move, stateTable } from "@tocsin/contract/formats/TransitionTable"
import { within } from "@tocsin/reporting/program/Platform"
import type { ChildProcess } from "node:child_process"
import { constants } from "node:os"
import type { Readable, Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { ProcessSession } from "../checks/ProcessSession.ts"
import { type CapturedText, OUTPUT_GRACE_MILLIS, type RunEnd, startSession } from "../checks/runCommand.ts"
import { byMillis, systemClock } from "../clock/Clock.ts"

/** A run of a job under `tocsin-agent run`. */
export const JobTransitions = stateTable({
  absent: {
    "called -> starting":
      "also where the arguments before `--` are wrong | signals wait for the job; a former run of the check that was lost is reported",
  },
  starting: {
    "left_out -> reported":
      "`--no-overlap` is given, and a former run of the check still runs | `warning`, exit code 75",
    "refused -> reported": "the system cannot start the command | the job's severity, exit code 126 or 127",
    "started -> running": "the job has a process, in its own session | its start is in the spool",
  },
  running: {
    "signalled -> running": "another signal that can be passed on arrives | passed on once",
    "asked_to_stop -> stopping":
      "SIGTERM, SIGINT, SIGQUIT or SIGHUP arrives | passed on once; the job takes the time that it needs",
    "time_passed -> timed_out": "the job runs for longer than `--timeout` | SIGTERM to all of its processes",
    "ended -> reported":
      "the job's process ends | `ok` with exit code 0, otherwise the job's severity; with `--nagios`, the status of the code",
    "lost -> reported":
      "`tocsin-agent run` itself is killed and the job is gone, or the host stops | the agent, or the next run of the check, reports the job's severity; exit code 255",
  },
  stopping: {
    "signalled -> stopping": "another signal that can be passed on arrives | passed on once",
    "asked_to_stop -> stopping": "SIGTERM, SIGINT, SIGQUIT or SIGHUP arrives again | passed on once",
    "time_passed -> timed_out": "the job runs for longer than `--timeout` | SIGTERM to all of its processes",
    "ended -> reported": "the job's process ends | as from running",
    "lost -> reported":
      "`tocsin-agent run` itself is killed and the job is gone, or the host stops | as from running",
  },
  timed_out: {
    "outlived -> killed": "a process of the job is left 5 s later | SIGKILL to all of its processes",
    "ended -> reported":
      "no process of the job is left | the job's severity, `unknown` with `--nagios`; exit code 124",
  },
  killed: {
    "ended -> reported": "no process of the job is left, or one survives SIGKILL for 5 s | as from timed out",
  },
})

type JobPlace = (typeof JobTransitions)[number]["from" | "to"]
type JobTrigger = (typeof JobTransitions)[number]["trigger"]

/** Bytes of output that are kept: the last lines say how a job ended. */
const KEPT_BYTES = 8_000

const firstCharacter = (bytes: Buffer): number =>
  Math.max(
    0,
    bytes.findIndex((byte) => (byte & 0xc0) !== 0x80),
  )

/** The last whole lines of an output, or the end of a line that is longer. */
class OutputTail {
  #kept = Buffer.alloc(0)
  #dropped = 0

  /** Copies output as it comes, as slowly as its reader takes it; a reader that has closed stops nothing. */
  passOn(from: Readable, to: Writable): void {
    let isOpen = true
    to.on("error", () => {
      isOpen = false
      from.resume()
    })
    from.on("data", (chunk: Buffer) => {
      this.#add(chunk)
      if (!isOpen || to.write(chunk)) return
      from.pause()
      to.once("drain", () => from.resume())
    })
  }

  captured(): CapturedText {
    // Where something was dropped, the first line is not whole, or else the first character.
    const line = this.#kept.indexOf("\n") + 1
    const isLine = line > 0 && line < this.#kept.length
    const start = this.#dropped === 0 ? 0 : isLine ? line : firstCharacter(this.#kept)
    const text = new StringDecoder("utf8").write(this.#kept.subarray(start))
    return { text, droppedBytes: this.#dropped + start }
  }

  #add(chunk: Buffer): void {
    const all = Buffer.concat([this.#kept, chunk])
    this.#kept = all.subarray(Math.max(0, all.length - KEPT_BYTES))
    this.#dropped += all.length - this.#kept.length
  }
}

/** The meaning of a signal for a job, and the processes that get it. */
interface PassedSignal {
  readonly name: NodeJS.Signals
  readonly trigger: "asked_to_stop" | "signalled"
  /** `all` of them, where a terminal sends it to all; otherwise the job's first. */
  readonly to: "all" | "first"
}

/**
 * The signals that Node.js can receive and whose default is to end a process, and three that a terminal
 * sends. Not here: SIGKILL and SIGSTOP, signals of faults such as SIGSEGV, and real-time signals.
 */
export const passedSignals: ReadonlyArray<PassedSignal> = (
  [
    { name: "SIGHUP", trigger: "asked_to_stop", to: "all" },
    { name: "SIGINT", trigger: "asked_to_stop", to: "all" },
    { name: "SIGQUIT", trigger: "asked_to_stop", to: "all" },
    { name: "SIGTERM", trigger: "asked_to_stop", to: "first" },
    { name: "SIGCONT", trigger: "signalled", to: "all" },
    { name: "SIGWINCH", trigger: "signalled", to: "all" },
    { name: "SIGABRT", trigger: "signalled", to: "first" },
    { name: "SIGALRM", trigger: "signalled", to: "first" },
    { name: "SIGIO", trigger: "signalled", to: "first" },
    { name: "SIGPROF", trigger: "signalled", to: "first" },
    { name: "SIGPWR", trigger: "signalled", to: "first" },
    { name: "SIGSTKFLT", trigger: "signalled", to: "first" },
    { name: "SIGSYS", trigger: "signalled", to: "first" },
    { name: "SIGTRAP", trigger: "signalled", to: "first" },
    { name: "SIGUSR1", trigger: "signalled", to: "first" },
    { name: "SIGUSR2", trigger: "signalled", to: "first" },
    { name: "SIGVTALRM", trigger: "signalled", to: "first" },
    { name: "SIGXCPU", trigger: "signalled", to: "first" },
    { name: "SIGXFSZ", trigger: "signalled", to: "first" },
  ] as const
).filter(({ name }) => name in constants.signals)

/** The command to run, and its time limit. */
interface JobOptions {
  readonly command: ReadonlyArray<string>
  readonly timeoutMillis: number | undefined
  /** Called with the process of the job. */
  readonly onStart: (pid: number) => void
}

/**
 * A job in its own session, so that a signal of the terminal, or to a process group, reaches it once:
 * from here. Moves by `JobTransitions`.
 */
export class Job {
  #place: JobPlace = "starting"
  #child: ChildProcess | undefined
  #session: ProcessSession | undefined
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

  /**
   * Runs a command to its end; processes that it left in the background may continue. The output is passed
   * on until none of them holds it, at `outputEnded`; after a time-out, no longer.
   */
  async run({ command, timeoutMillis, onStart }: JobOptions) {
    const tail = new OutputTail()
    const begun = systemClock.steady()
    const over = (end: RunEnd, outputEnded = Promise.resolve()) => ({
      end,
      durationMillis: systemClock.steady() - begun,
      captured: tail.captured(),
      outputEnded,
    })
    const { child, ended, outputEnded } = startSession(command, { stdio: ["inherit", "pipe", "pipe"] })
    if (child?.stdout) tail.passOn(child.stdout, process.stdout)
    if (child?.stderr) tail.passOn(child.stderr, process.stderr)
    if (child?.pid === undefined) {
      const end = await ended
      this.#move("refused")
      return over(end)
    }
    this.#child = child
    this.#session = new ProcessSession(child.pid)
    this.#move("started")
    onStart(child.pid)
    const end = await this.#limit(ended, this.#session, timeoutMillis)
    this.#move("ended")
    await within(OUTPUT_GRACE_MILLIS, outputEnded)
    // After a time-out, only what left the session can still hold the output.
    return over(end, end.kind === "timedOut" ? undefined : outputEnded)
  }

  /** The end of the job, or that its time was over. */
  async #limit(
    ended: Promise<RunEnd>,
    session: ProcessSession,
    timeoutMillis: number | undefined,
  ): Promise<RunEnd> {
    if (timeoutMillis === undefined) return await ended
    const end = await byMillis(systemClock, timeoutMillis, ended)
    if (end !== undefined) return end
    this.#move("time_passed")
    await session.end(() => this.#move("outlived"))
    return { kind: "timedOut", timeoutMillis }
  }

  #pass({ name, trigger, to }: PassedSignal): void {
    if (this.#place !== "running" && this.#place !== "stopping") return
    this.#move(trigger)
    if (to === "all") this.#session?.signal(name)
    else this.#child?.kill(name)
  }

  /** The system does not let SIGTSTP stop a session without a terminal. SIGCONT is passed on as it comes. */
  #suspend(): void {
    this.#session?.signal("SIGSTOP")
    process.kill(process.pid, "SIGSTOP")
  }

  #move(trigger: JobTrigger): void {
    this.#place = move(JobTransitions, this.#place, trigger)
  }
}

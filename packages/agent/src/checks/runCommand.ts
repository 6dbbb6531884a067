import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { afterMillis } from "../clock/Clock.ts"
import { ProcessGroup } from "./ProcessGroup.ts"
import {
  type CapturedText,
  endOf,
  notStarted,
  outcomeOf,
  OUTPUT_GRACE_MILLIS,
  type RunEnd,
  type RunOutcome,
} from "./RunOutcome.ts"

/** Bytes of each stream that are kept; the rest is read and dropped, so that the command gets no SIGPIPE. */
const KEPT_BYTES = 65_536

/** The beginning of what a command writes. */
export class CapturedStream {
  readonly #chunks: Array<Buffer> = []
  #kept = 0
  #dropped = 0

  constructor(stream: Readable) {
    stream.on("data", (chunk: Buffer) => this.#take(chunk))
    // A stream that breaks has ended: what was read stands.
    stream.on("error", () => {})
  }

  /** The kept bytes as text; a character that was cut in two is left out. */
  captured(): CapturedText {
    const decoder = new StringDecoder("utf8")
    const text = decoder.write(Buffer.concat(this.#chunks))
    const droppedBytes = this.#dropped
    return { text: droppedBytes > 0 ? text : text + decoder.end(), droppedBytes }
  }

  #take(chunk: Buffer): void {
    const part = chunk.subarray(0, Math.max(0, KEPT_BYTES - this.#kept))
    if (part.length > 0) this.#chunks.push(part)
    this.#kept += part.length
    this.#dropped += chunk.length - part.length
  }
}

/** A command to run. */
interface CommandRun {
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly timeoutMillis: number
}

/** A run that was begun. */
export interface StartedRun {
  /** The result: at the end of the command, or at its deadline, whatever becomes of its processes. */
  readonly outcome: Promise<RunOutcome & { readonly durationMillis: number }>
  /** Resolves when no process of the run is left, or when they survived SIGKILL: `false`. */
  readonly gone: Promise<boolean>
  /** Whether processes of the run are left. */
  readonly isAlive: () => boolean
  /** Ends the run before its deadline, as a shutdown does. */
  readonly stop: () => void
}

/** Runs a command in its own process group. */
export const runCommand = (run: CommandRun, clock: Clock): StartedRun => {
  const begun = clock.steady()
  const [command = "", ...args] = run.argv
  let child: ChildProcess
  try {
    child = spawn(command, args, {
      cwd: run.cwd,
      env: run.env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    })
  } catch (error) {
    // Arguments that the system cannot take.
    return neverStarted(outcomeOf(notStarted(error, command)))
  }
  const streams = [child.stdout, child.stderr].map((stream) => stream && new CapturedStream(stream))
  /** Standard output, or standard error where that is blank. */
  const captured = () => {
    const [stdout, stderr] = streams.map((stream) => stream?.captured())
    return stdout?.text.trim() ? stdout : stderr
  }
  let isEnded = false
  let isStopped = false
  const group = new ProcessGroup(child)
  let sayGone: (isGone: boolean | Promise<boolean>) => void = () => {}
  const gone = new Promise<boolean>((resolve) => (sayGone = resolve))
  const outcome = new Promise<RunOutcome & { readonly durationMillis: number }>((resolve) => {
    const end = (how: RunEnd): void => {
      if (isEnded) return
      isEnded = true
      cancelDeadline()
      clearTimeout(grace)
      resolve({ ...outcomeOf(how, captured()), durationMillis: clock.steady() - begun })
      for (const stream of [child.stdout, child.stderr]) stream?.destroy()
      // Background processes of a command that ended by itself are its own affair, as in a shell.
      sayGone(how.kind === "timedOut" || isStopped ? group.end() : true)
    }
    let grace: NodeJS.Timeout | undefined
    const { timeoutMillis } = run
    const cancelDeadline = afterMillis(clock, timeoutMillis, () => end({ kind: "timedOut", timeoutMillis }))
    child.on("error", (error) => end(notStarted(error, command)))
    child.on("exit", (code, signal) => {
      cancelDeadline()
      const how = endOf(code, signal)
      child.on("close", () => end(how))
      grace = setTimeout(() => end(how), OUTPUT_GRACE_MILLIS)
    })
  })
  const stop = () => {
    isStopped = true
    void group.end()
  }
  return { outcome, gone, isAlive: () => group.isAlive(), stop }
}

const neverStarted = (outcome: RunOutcome): StartedRun => ({
  outcome: Promise.resolve({ ...outcome, durationMillis: 0 }),
  gone: Promise.resolve(true),
  isAlive: () => false,
  stop: () => {},
})

import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { within } from "@tocsin/reporting/program/Platform"
import { spawn, type SpawnOptions } from "node:child_process"
import { constants } from "node:os"
import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { getSystemErrorMessage } from "node:util"
import { byMillis } from "../clock/Clock.ts"
import { ProcessSession } from "./ProcessSession.ts"

/** How the work of a check ended. */
export type RunEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signalled"; readonly signal: NodeJS.Signals }
  | { readonly kind: "timedOut"; readonly timeoutMillis: number }
  /** After a time-out, processes survived SIGKILL and the check was due again. */
  | { readonly kind: "stuck"; readonly sinceMillis: number }
  | ReturnType<typeof notStarted>

/** How long a command that has ended may leave its output open, as its background processes do. */
export const OUTPUT_GRACE_MILLIS = 1_000

/** The end of a command that the system could not start. */
const notStarted = (error: unknown, command: string) => {
  const found = error instanceof Error ? error : new Error(String(error))
  const code = "code" in found ? String(found.code) : found.message
  const errno = "errno" in found && typeof found.errno === "number" ? found.errno : undefined
  return { kind: "notStarted", errno, code, command } as const
}

/** Starts a command in its own session. Resolves when its process has ended, and when no other holds its output. */
export const startSession = ([command = "", ...args]: ReadonlyArray<string>, options: SpawnOptions) => {
  try {
    const child = spawn(command, args, { ...options, detached: true })
    const ended = new Promise<RunEnd>((resolve) => {
      child.once("error", (error) => resolve(notStarted(error, command)))
      child.once("exit", (code, signal) =>
        resolve(signal === null ? { kind: "exited", code: code ?? 0 } : { kind: "signalled", signal }),
      )
    })
    const outputEnded = new Promise<void>((resolve) => child.once("close", () => resolve()))
    return { child, ended, outputEnded }
  } catch (error) {
    // Arguments that the system cannot take.
    const ended = Promise.resolve<RunEnd>(notStarted(error, command))
    return { child: undefined, ended, outputEnded: Promise.resolve() }
  }
}

export interface RunOutcome {
  readonly status: CheckStatus
  readonly exitCode: number
  readonly output: string
  readonly droppedBytes: number
  /** A probe's note for its next run. */
  readonly note?: string | undefined
}

/** The kept output of a command on one stream. */
export interface CapturedText {
  readonly text: string
  readonly droppedBytes: number
}

/** By the exit codes of the plugin guidelines; any other is unknown. */
export const STATUSES: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]

const TIMED_OUT = 124
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127
const SIGNAL_BASE = 128

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`

/** How a command that was started ended, in words; none with exit code 0. */
export const endText = (end: RunEnd): string | undefined => {
  if (end.kind === "exited") return end.code === 0 ? undefined : `exit ${end.code}`
  if (end.kind === "signalled") return `ended by ${end.signal}`
  return end.kind === "timedOut" ? `timed out after ${seconds(end.timeoutMillis)}` : undefined
}

/** The result at the end of a run, by the plugin guidelines and the shell's exit codes. */
export const outcomeOf = (end: RunEnd, captured?: CapturedText): RunOutcome => {
  const { text = "", droppedBytes = 0 } = captured ?? {}
  const said = withoutTrailing(text, "\r\n")
  const unknown = (exitCode: number, output: string): RunOutcome => ({
    status: "unknown",
    exitCode,
    output,
    droppedBytes,
  })
  switch (end.kind) {
    case "exited":
      return { ...unknown(end.code, said), status: STATUSES[end.code] ?? "unknown" }
    case "signalled":
      return unknown(SIGNAL_BASE + constants.signals[end.signal], said || (endText(end) ?? ""))
    case "timedOut":
      return unknown(TIMED_OUT, [endText(end), ...(said === "" ? [] : [said])].join("\n"))
    case "stuck":
      return unknown(TIMED_OUT, `still running ${seconds(end.sinceMillis)} after it was killed`)
    case "notStarted": {
      const exitCode = end.code === "ENOENT" ? NOT_FOUND : NOT_EXECUTABLE
      const words = end.errno === undefined ? end.code : getSystemErrorMessage(end.errno)
      return unknown(exitCode, `${end.command}: ${words}`)
    }
  }
}

/** Bytes of each end of a stream that are kept; the rest is read and dropped, so that the command gets no SIGPIPE. */
const KEPT_BYTES = 65_536
const LAST_BYTES = 32_768
/** No number of a plugin is longer. */
const LONGEST_WORD = 1_024

/** Both ends of what a command writes: performance data may follow a long text. */
export class CapturedStream {
  readonly #first: Array<Buffer> = []
  #room = KEPT_BYTES
  #last = Buffer.alloc(0)
  #dropped = 0

  constructor(stream: Readable) {
    stream.on("data", (chunk: Buffer) => this.#take(chunk))
    // A stream that breaks has ended: what was read stands.
    stream.on("error", () => {})
  }

  /** The kept bytes as text. Where others were dropped, a line ends, and no half of a word or a character stays. */
  captured(): CapturedText {
    const kept = Buffer.concat(this.#first)
    if (this.#dropped === 0) return { text: Buffer.concat([kept, this.#last]).toString(), droppedBytes: 0 }
    const [first, last] = [new StringDecoder("utf8").write(kept), this.#last.toString()]
    const end = first.slice(-LONGEST_WORD).search(/\s\S*$/u)
    const begin = last.slice(0, LONGEST_WORD).search(/\s/u)
    const text = `${end < 0 ? first : first.slice(0, end - LONGEST_WORD)}\n${last.slice(begin + 1)}`
    const all = kept.length + this.#dropped + this.#last.length
    return { text, droppedBytes: Math.max(1, all - Buffer.byteLength(text)) }
  }

  #take(chunk: Buffer): void {
    const part = chunk.subarray(0, this.#room)
    if (part.length > 0) this.#first.push(part)
    this.#room -= part.length
    if (part.length === chunk.length) return
    const last = Buffer.concat([this.#last, chunk.subarray(part.length)])
    this.#last = last.subarray(Math.max(0, last.length - LAST_BYTES))
    this.#dropped += last.length - this.#last.length
  }
}

interface CommandRun {
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly timeoutMillis: number
}

export interface StartedRun {
  /** The result: at the end of the command, or at its deadline, whatever becomes of its processes. */
  readonly outcome: Promise<RunOutcome & { readonly durationMillis: number }>
  /** Resolves when no process of the run is left, or when they survived SIGKILL: `false`. */
  readonly gone: Promise<boolean>
  readonly isAlive: () => boolean
  /** Ends the run before its deadline, as a shutdown does. */
  readonly stop: () => void
}

/** Runs a command in its own session. */
export const runCommand = ({ argv, timeoutMillis, ...place }: CommandRun, clock: Clock): StartedRun => {
  const begun = clock.steady()
  const { child, ended, outputEnded } = startSession(argv, { ...place, stdio: ["ignore", "pipe", "pipe"] })
  const streams = [child?.stdout, child?.stderr].flatMap((stream) => stream ?? [])
  const outputs = streams.map((stream) => new CapturedStream(stream))
  /** Standard output, or standard error where that is blank. */
  const captured = () => {
    const [stdout, stderr] = outputs.map((output) => output.captured())
    return stdout?.text.trim() ? stdout : stderr
  }
  const session = new ProcessSession(child?.pid)
  let isStopped = false
  const over = byMillis(clock, timeoutMillis, ended).then(async (end) => {
    if (end !== undefined && end.kind !== "notStarted") await within(OUTPUT_GRACE_MILLIS, outputEnded)
    const how = end ?? { kind: "timedOut", timeoutMillis }
    const outcome = { ...outcomeOf(how, captured()), durationMillis: clock.steady() - begun }
    for (const stream of streams) stream.destroy()
    // Background processes of a command that ended by itself are its own affair, as in a shell.
    return { outcome, gone: end === undefined || isStopped ? session.end() : true }
  })
  const stop = () => {
    isStopped = true
    void session.end()
  }
  return {
    outcome: over.then(({ outcome }) => outcome),
    gone: over.then(({ gone }) => gone),
    isAlive: () => session.isAlive(),
    stop,
  }
}

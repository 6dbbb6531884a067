import { withoutTrailing } from "@tocsin/contract/withoutTrailing"
import { getSystemErrorMessage } from "node:util"
import { constants } from "node:os"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"

/** How the work of a check ended. */
export type RunEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signalled"; readonly signal: NodeJS.Signals }
  | { readonly kind: "timedOut"; readonly timeoutMillis: number }
  /** After a time-out, processes survived SIGKILL and the check was due again. */
  | { readonly kind: "stuck"; readonly sinceMillis: number }
  | {
      readonly kind: "notStarted"
      readonly errno: number | undefined
      readonly code: string
      readonly command: string
    }

/** How long a command that has ended may leave its output open, as its background processes do. */
export const OUTPUT_GRACE_MILLIS = 1_000

/** The end of a process, as Node.js reports it. */
export const endOf = (code: number | null, signal: NodeJS.Signals | null): RunEnd =>
  signal === null ? { kind: "exited", code: code ?? 0 } : { kind: "signalled", signal }

/** The end of a command that the system could not start. */
export const notStarted = (error: unknown, command: string): RunEnd => {
  const found = error instanceof Error ? error : new Error(String(error))
  const code = "code" in found ? String(found.code) : found.message
  const errno = "errno" in found && typeof found.errno === "number" ? found.errno : undefined
  return { kind: "notStarted", errno, code, command }
}

/** The result of a run. */
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

const NOTHING: CapturedText = { text: "", droppedBytes: 0 }

/** Exit codes of the plugin guidelines; any other is unknown. */
const STATUSES: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]

const statusOfCode = (code: number): CheckStatus => STATUSES[code] ?? "unknown"

const TIMED_OUT = 124
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127
const SIGNAL_BASE = 128

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`

/** The result at the end of a run, by the plugin guidelines and the shell's exit codes. */
export const outcomeOf = (end: RunEnd, { text, droppedBytes }: CapturedText = NOTHING): RunOutcome => {
  const said = withoutTrailing(text, "\r\n")
  switch (end.kind) {
    case "exited":
      return { status: statusOfCode(end.code), exitCode: end.code, output: said, droppedBytes }
    case "signalled": {
      const output = said === "" ? `ended by ${end.signal}` : said
      const exitCode = SIGNAL_BASE + constants.signals[end.signal]
      return { status: "unknown", exitCode, output, droppedBytes }
    }
    case "timedOut": {
      const words = `timed out after ${seconds(end.timeoutMillis)}`
      const output = said === "" ? words : `${words}\n${said}`
      return { status: "unknown", exitCode: TIMED_OUT, output, droppedBytes }
    }
    case "stuck": {
      const output = `still running ${seconds(end.sinceMillis)} after it was killed`
      return { status: "unknown", exitCode: TIMED_OUT, output, droppedBytes: 0 }
    }
    case "notStarted": {
      const exitCode = end.code === "ENOENT" ? NOT_FOUND : NOT_EXECUTABLE
      const words = end.errno === undefined ? end.code : getSystemErrorMessage(end.errno)
      return { status: "unknown", exitCode, output: `${end.command}: ${words}`, droppedBytes: 0 }
    }
  }
}

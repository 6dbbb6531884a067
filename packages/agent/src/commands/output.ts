import { plainLine } from "@tocsin/contract/plainLine"
import { writeSync } from "node:fs"
import { primaryOf } from "../spool/spoolFault.ts"

/** Writes one line for people to standard error; a reader that went away is no reason to end. */
export const complain = (message: string): void => writeLine(2, `tocsin-agent: ${plainLine(message)}`)

/** Writes a line of a command's output. */
export const print = (line: string): void => writeLine(1, line)

const REFUSALS: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS"])

/** SQLite's codes READONLY and CANTOPEN: it names no file. */
const SPOOL_REFUSALS: ReadonlySet<number> = new Set([8, 14])

/** The system's refusal, if it is one. */
const refusalOf = (error: Error): string | undefined => {
  if ("errcode" in error && SPOOL_REFUSALS.has(primaryOf(error.errcode)))
    return `the spool cannot be written (${error.message})`
  return "code" in error && REFUSALS.has(error.code) ? error.message : undefined
}

/** Why a command failed, and who can run it where the system refused its caller. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const refusal = refusalOf(error)
  return refusal !== undefined
    ? `${refusal}: run it as root or as the owner of the state folder, on a disk that is not read-only; report and run also work in the folder's group`
    : error.message
}

const writeLine = (descriptor: number, line: string): void => {
  try {
    writeSync(descriptor, `${line}\n`)
  } catch {
    // The reader has closed the pipe.
  }
}

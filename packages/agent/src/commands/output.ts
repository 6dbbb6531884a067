import { plainLine } from "@tocsin/core/contract/plainLine"
import { writeSync } from "node:fs"

/** Writes one line for people to standard error; a reader that went away is no reason to end. */
export const complain = (message: string): void => writeLine(2, `tocsin-agent: ${plainLine(message)}`)

/** Writes a line of a command's output. */
export const print = (line: string): void => writeLine(1, line)

const writeLine = (descriptor: number, line: string): void => {
  try {
    writeSync(descriptor, `${line}\n`)
  } catch {
    // The reader has closed the pipe.
  }
}

import { readFileSync } from "node:fs"

/** The text of a file of /proc; undefined where there is none, or the process has just ended. */
export const procFile = (pid: number, name: string): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1")
  } catch {
    return undefined
  }
}

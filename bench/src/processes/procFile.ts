import { readFileSync } from "node:fs"

/** The text of a file of /proc; undefined without it, or after the process has ended. */
export const procFile = (pid: number, name: string): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1")
  } catch {
    return undefined
  }
}

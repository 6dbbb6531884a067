import { execFileSync } from "node:child_process"
import process from "node:process"

/** The user of a program; nothing for the current user. */
export interface User {
  readonly uid?: number
  readonly gid?: number
}

const idOf = (option: "-u" | "-g", name: string): number =>
  Number(execFileSync("id", [option, name], { stdio: ["ignore", "pipe", "ignore"], encoding: "utf8" }))

/**
 * The user for PostgreSQL, which refuses to run as root: `postgres`, or else `nobody`, if either
 * exists.
 */
export const postgresUser = (): User | undefined => {
  if (process.getuid?.() !== 0) return {}
  for (const name of ["postgres", "nobody"]) {
    try {
      return { uid: idOf("-u", name), gid: idOf("-g", name) }
    } catch {
      // That user does not exist here.
    }
  }
  return undefined
}

import { execFileSync } from "node:child_process"
import process from "node:process"

/** Who a program runs as; nothing for the user who runs this. */
export interface User {
  readonly uid?: number
  readonly gid?: number
}

const idOf = (option: "-u" | "-g", name: string): number =>
  Number(execFileSync("id", [option, name], { stdio: ["ignore", "pipe", "ignore"], encoding: "utf8" }))

/** PostgreSQL refuses to run as root: there it runs as the user postgres, or as nobody; undefined if neither exists. */
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

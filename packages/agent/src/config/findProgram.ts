import { accessSync, constants, statSync } from "node:fs"
import { resolve } from "node:path"
import type { FindProgram, FoundProgram } from "./warningsOf.ts"

/** Where a unit of systemd looks for programs. */
export const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const SET_ID_BITS = 0o6000

/** Looks for programs as the agent does that runs in a folder. */
export const findProgramIn =
  (folder: string): FindProgram =>
  (name, path = `${process.env["PATH"] ?? ""}:${DEFAULT_PATH}`) => {
    if (name.includes("/")) return examine(resolve(folder, name))
    const found = path.split(":").map((one) => examine(resolve(folder, one, name)))
    return found.find((one) => one !== "missing" && one !== "not executable") ?? leastOf(found)
  }

const leastOf = (found: ReadonlyArray<FoundProgram>): FoundProgram =>
  found.includes("not executable") ? "not executable" : "missing"

const examine = (file: string): FoundProgram => {
  try {
    const found = statSync(file)
    accessSync(file, constants.X_OK)
    if (!found.isFile()) return "not executable"
    return (found.mode & SET_ID_BITS) === 0 ? "executable" : "privileged"
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EACCES" ? "not executable" : "missing"
  }
}

import { readFile, realpath } from "node:fs/promises"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { text } from "../config/Reader.ts"
import { FileSystems } from "./FileSystems.ts"
import { oneOrMore } from "./probeReaders.ts"

/** A mount as the kernel lists it. */
export interface Mount {
  readonly device: string
  readonly path: string
  readonly type: string
  readonly options: ReadonlyArray<string>
}

export const absolutePath = text({ max: 4_096, form: /^\//, expected: "an absolute path" })

/** Where file systems are mounted. */
export const mountPaths = oneOrMore(absolutePath, 100)

/** None where the system does not say. */
export const allMounts = async (): Promise<ReadonlyArray<Mount>> => {
  const lines = await readFile("/proc/self/mounts", "utf8").catch(() => "")
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [device = "", path = "", type = "", options = ""] = line.split(" ").map(unescaped)
      return { device, path, type, options: options.split(",") }
    })
}

/** The kernel writes spaces and backslashes of paths as octal numbers. */
const unescaped = (field: string): string =>
  field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)))

const realPaths = new FileSystems((path) => realpath(path))

/** The list of a container may lack the root. */
const ROOT: Mount = { device: "", path: "/", type: "", options: [] }

/** The mount at a path: the last one where several lie on each other. */
export const mountAt = async (
  mounts: ReadonlyArray<Mount>,
  path: string,
  clock: Clock,
): Promise<Mount | undefined> => {
  const at = (place: string) => [ROOT, ...mounts].findLast((one) => one.path === place)
  // The list answers without the file system, which may hang.
  return at(path) ?? at(await realPaths.examine(path, clock))
}

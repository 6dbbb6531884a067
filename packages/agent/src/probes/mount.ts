import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { readFile, realpath } from "node:fs/promises"
import { flag, oneOrMore, record, text } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { examining } from "./examining.ts"
import { absolutePath, figure, probe } from "./Probe.ts"
import { givenOr, thresholdFields, thresholdsOf } from "./thresholds.ts"

/** Where file systems are mounted. */
export const mountPaths = oneOrMore(absolutePath, 100)

/** None at all. */
const OWN = thresholdsOf(undefined, "0")

/** Mounts that are missing, of another type, or read-only where they should not be. */
export const mount = probe(
  { name: "mount", lane: "host" },
  record(
    { mounts: mountPaths, types: oneOrMore(text({ max: 64 }), 10), writable: flag, ...thresholdFields },
    ["mounts"],
  ),
  async ({ mounts: paths, types, writable: isWritable = false, ...limits }, { clock }) => {
    const mounts = await allMounts()
    if (mounts.length === 0) throw new Error("this system does not list its mounts")
    const faultOf = (found: Mount | undefined): string | undefined => {
      if (found === undefined) return "is not mounted"
      if (types !== undefined && !types.includes(found.type)) return `is of type ${found.type}`
      return isWritable && found.options.includes("ro") ? "is read-only" : undefined
    }
    const judged = paths.map(async (path) => {
      try {
        const fault = faultOf(await mountAt(mounts, path, clock))
        return fault === undefined ? [] : [`${path} ${fault}`]
      } catch (error) {
        return [`${path} cannot be examined: ${explainError(error)}`]
      }
    })
    const bad = (await Promise.all(judged)).flat()
    const words = bad.join(", ") || `${paths.join(", ")} mounted`
    return figure({ label: "mounts", value: bad.length, unit: "", thresholds: givenOr(limits, OWN), words })
  },
)

/** A mount as the kernel lists it. */
export interface Mount {
  readonly device: string
  readonly path: string
  readonly type: string
  readonly options: ReadonlyArray<string>
}

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

const realPaths = examining((path) => realpath(path))

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
  return at(path) ?? at(await realPaths(path, clock))
}

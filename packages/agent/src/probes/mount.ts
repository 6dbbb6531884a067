import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { readFile, realpath, stat } from "node:fs/promises"
import { join, relative } from "node:path"
import { codeOf, flag, oneOrMore, record, text } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { examining } from "./examining.ts"
import { absolutePath, figure, probe } from "./Probe.ts"
import { givenOr, thresholdFields, thresholdsOf } from "./thresholds.ts"

/** Where file systems are mounted. */
export const mountPaths = oneOrMore(absolutePath, 100)

/** None at all. */
const OWN = thresholdsOf(undefined, "0")

/** Mounts that are missing, of another type, damaged, or read-only where they should not be. */
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
      return found.failure ?? (isWritable && found.isReadOnly ? "is read-only" : undefined)
    }
    const judged = paths.map(async (path) => {
      try {
        const { found, unseen } = await foundAt(mounts, path, clock)
        const fault = faultOf(found)
        return { bad: fault === undefined ? [] : [`${path} ${fault}`], unseen }
      } catch (error) {
        return { bad: [`${path} cannot be examined: ${explainError(error)}`] }
      }
    })
    const all = await Promise.all(judged)
    const bad = all.flatMap((one) => one.bad)
    const unseen = all.flatMap((one) => one.unseen ?? [])
    const words = bad.join(", ") || [`${paths.join(", ")} mounted`, ...unseen].join("; ")
    return figure({ label: "mounts", value: bad.length, unit: "", thresholds: givenOr(limits, OWN), words })
  },
)

/** A mount that this process sees, as the kernel lists it. */
export interface Mount {
  readonly path: string
  /** The number of the device, as `stat` has it. */
  readonly dev: number
  readonly type: string
  /**
   * Of the file system, or of this mount for the whole host. A mount that is read-only for this process alone, as
   * `ProtectSystem` makes it, is not.
   */
  readonly isReadOnly: boolean
  /** Why it takes no more writes although it was mounted for them, if so. */
  readonly failure: string | undefined
}

interface MountLine extends Omit<Mount, "isReadOnly" | "failure"> {
  readonly id: string
  readonly parent: string
  /** The folder of the file system that is mounted. */
  readonly root: string
  readonly isOwnReadOnly: boolean
  readonly options: ReadonlyArray<string>
}

const lineOf = (line: string): MountLine => {
  const [place = "", file = ""] = line.split(" - ")
  const [id = "", parent = "", device = "", root = "", path = "", own = ""] = place.split(" ").map(unescaped)
  const [type = "", , options = ""] = file.split(" ")
  const isOwnReadOnly = own.split(",").includes("ro")
  return { id, parent, path, dev: devOf(device), root, isOwnReadOnly, type, options: options.split(",") }
}

/** The kernel writes spaces and backslashes of paths as octal numbers. */
const unescaped = (field: string): string =>
  field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)))

/** `254:0` as one number: eight bits of the minor number are its lowest, the others its highest. */
const devOf = (device: string): number => {
  const [major = 0, minor = 0] = device.split(":").map(Number)
  return major * 2 ** 8 + (minor % 2 ** 8) + (minor >> 8) * 2 ** 20
}

const linesOf = async (file: string): Promise<ReadonlyArray<MountLine>> => {
  const lines = await readFile(file, "utf8").catch(() => "")
  return lines.split("\n").flatMap((line) => (line === "" ? [] : lineOf(line)))
}

const placeOf = ({ dev, root, path }: MountLine): string => `${dev} ${root} ${path}`

/** Full from the beginning, whatever their options say. */
const IMAGES = new Set(["squashfs", "iso9660", "udf", "erofs", "cramfs", "romfs", "composefs"])

/** Options of ext4 by which Linux 6.15 and newer say that it takes no more writes. */
const FAILURES = new Map([
  ["emergency_ro", "became read-only after an error"],
  ["shutdown", "was shut down"],
])

/** None where the system does not say. */
export const allMounts = async (): Promise<ReadonlyArray<Mount>> => {
  const [own, host] = await Promise.all(["/proc/self/mountinfo", "/proc/1/mountinfo"].map(linesOf))
  // A sandbox changes the mounts of its process, and not those of the host's first one.
  const hosts = new Map(host?.map((one) => [placeOf(one), one]))
  const readOnly = new Set(host?.flatMap((one) => (one.isOwnReadOnly ? one.dev : [])))
  const byId = new Map(own?.map((one) => [one.id, one]))
  // ProtectHome mounts /home on itself, and PrivateTmp another folder on /tmp: the host has no mount there.
  const isSandbox = (one: MountLine): boolean => {
    const above = byId.get(one.parent)
    if (above === undefined || above.dev !== one.dev || hosts.has(placeOf(one))) return false
    return hosts.has(placeOf(above)) || one.root === join(above.root, relative(above.path, one.path))
  }
  return (own ?? []).flatMap((one) => {
    if (isSandbox(one) || isTrigger(one)) return []
    const { path, dev, type, options } = one
    const ofHost = hosts.get(placeOf(one))
    const isMade = options.includes("ro") || IMAGES.has(type)
    // A person who mounts read-only, or remounts, changes mount and file system. The kernel changes the file system alone.
    const isLost = options.includes("ro") && CAN_FAIL.has(type) && ofHost !== undefined && !readOnly.has(dev)
    const said = options.flatMap((option) => FAILURES.get(option) ?? [])
    const failure = said[0] ?? (isLost ? FAILURES.get("emergency_ro") : undefined)
    return { path, dev, type, isReadOnly: isMade || ofHost?.isOwnReadOnly === true, failure }
  })
}

/** Whether a look at it mounts a file system in its place. It is no file system itself. */
const isTrigger = ({ options, type }: MountLine): boolean =>
  type === "autofs" && (options.includes("direct") || options.includes("offset"))

/** Whose errors make them read-only below their mounts: ext4 before Linux 6.15, and the others always. */
const CAN_FAIL = new Set(["ext2", "ext3", "ext4", "btrfs", "f2fs", "jfs", "nilfs2", "reiserfs", "vfat"])

const looks = examining(async (path) => ({ dev: (await stat(path)).dev, place: await realpath(path) }))

/** The list of a container may lack the root. */
const ROOT: Mount = { path: "/", dev: 0, type: "", isReadOnly: false, failure: undefined }

/** Where mounts lie on each other, the last one counts. */
export const rootOf = (mounts: ReadonlyArray<Mount>): Mount =>
  mounts.findLast(({ path }) => path === "/") ?? ROOT

/** Whether a mount, and none that hides it, is where `stat` said `dev`. Subvolumes have numbers that no list shows. */
const isShown = (one: Mount, dev: number, mounts: ReadonlyArray<Mount>): boolean =>
  one.type === "btrfs"
    ? !mounts.some((other) => other.type !== "btrfs" && other.dev === dev)
    : one.dev === dev

/** The mount at a path, as `stat` sees it: others there are hidden. Rejects where the file system does not answer. */
export const mountAt = async (
  mounts: ReadonlyArray<Mount>,
  path: string,
  clock: Clock,
): Promise<Mount | undefined> => {
  const { dev, place } = await looks(path, clock)
  const at = mounts.filter((one) => one.path === path || one.path === place)
  const found = at.findLast((one) => isShown(one, dev, mounts))
  return found ?? (place === "/" ? rootOf(mounts) : undefined)
}

/** The same, also of an automount at rest, which the look mounts. */
export const mountedAt = async (
  mounts: ReadonlyArray<Mount>,
  path: string,
  clock: Clock,
): Promise<Mount | undefined> =>
  (await mountAt(mounts, path, clock)) ?? (await mountAt(await allMounts(), path, clock))

/** The same, by the list alone where this user may not look. */
const foundAt = async (mounts: ReadonlyArray<Mount>, path: string, clock: Clock) => {
  try {
    return { found: await mountedAt(mounts, path, clock), unseen: undefined }
  } catch (error) {
    const found = mounts.findLast((one) => one.path === path)
    if (codeOf(error) !== "EACCES" || found === undefined) throw error
    return { found, unseen: `${path} by the list of mounts alone, as this user may not enter it` }
  }
}

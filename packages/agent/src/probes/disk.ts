import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { readFile, statfs } from "node:fs/promises"
import { record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { examining } from "./examining.ts"
import { allMounts, type Mount, mountAt, mountPaths } from "./mount.ts"
import { critical, type Finding, type Measure, probe } from "./Probe.ts"
import {
  byteThresholds,
  givenOr,
  type Thresholds,
  thresholdFields,
  thresholds,
  thresholdsOf,
} from "./thresholds.ts"

/** Percent free, of space and of inodes. */
const OWN = thresholdsOf("10:", "5:")

/** Space and inodes that are free, of each mount, in percent of what a user can have. */
export const disk = probe(
  { name: "disk", lane: "host" },
  record({ mounts: mountPaths, ...thresholdFields, bytes: byteThresholds, inodes: thresholds }),
  async ({ mounts, bytes, inodes = OWN, ...free }, { clock }) => {
    const all = await allMounts()
    const { paths, leftOut } = mounts === undefined ? await diskMounts(all) : { paths: mounts, leftOut: [] }
    const more = leftOut.length > SHOWN ? ` and ${leftOut.length - SHOWN} more` : ""
    const shown = `read-only and left out: ${leftOut.slice(0, SHOWN).join(", ")}${more}`
    if (paths.length === 0)
      throw new Error(`no file system can fill up; ${shown}; name in mounts what to examine`)
    // Bytes replace the percentage, which says little of a large disk.
    const limits = { free: bytes === undefined ? givenOr(free, OWN) : free, bytes, inodes }
    const known = mounts === undefined ? [] : all
    const found = await Promise.all(paths.map((path) => measure(path, limits, { clock, known })))
    return {
      words: `${found.map(({ words }) => words).join(", ")}${leftOut.length === 0 ? "" : `; ${shown}`}`,
      measures: found.flatMap(({ measures }) => measures),
      faults: found.flatMap(({ faults = [] }) => faults),
    }
  },
)

const GIB = 2 ** 30
/** A host may have a read-only image for each of its packages. */
const SHOWN = 3

const fileSystems = examining((path) => statfs(path))

interface Limits {
  readonly free: Thresholds
  readonly bytes: Thresholds | undefined
  readonly inodes: Thresholds
}

/** `known` are mounts of which the path must be one; none where that is not asked, or the system does not say. */
const measure = async (
  path: string,
  limits: Limits,
  { clock, known }: { readonly clock: Clock; readonly known: ReadonlyArray<Mount> },
): Promise<Finding> => {
  let found
  try {
    found = await fileSystems(path, clock)
    if (known.length > 0 && (await mountAt(known, path, clock)) === undefined)
      throw new Error("nothing is mounted there")
  } catch (error) {
    return { ...critical(`${path} cannot be examined: ${explainError(error)}`), words: "" }
  }
  const { bavail, bfree, blocks, bsize, ffree, files } = found
  // Blocks that only root may use count neither as free nor as used, as in df.
  const usable = blocks - bfree + bavail
  const percent = usable === 0 ? 0 : (100 * bavail) / usable
  const free = bavail * bsize
  const words = `${path} ${percent.toFixed(1)}% free (${(free / GIB).toFixed(1)} GiB)`
  const measures: Array<Measure> = [
    { label: `${path} free`, value: percent, unit: "%", thresholds: limits.free, words },
  ]
  if (limits.bytes !== undefined)
    measures.push({ label: `${path} bytes`, value: free, unit: "B", thresholds: limits.bytes, words })
  // Some file systems have no fixed number of inodes.
  if (files > 0) {
    const left = (100 * ffree) / files
    const said = `${path} ${left.toFixed(1)}% of inodes free`
    measures.push({ label: `${path} inodes`, value: left, unit: "%", thresholds: limits.inodes, words: said })
  }
  return { words, measures }
}

/** File systems without a device that hold data nevertheless. */
const WITHOUT_DEVICE = new Set(["zfs", "btrfs"])
/** Full from the beginning, whatever their options say. */
const IMAGES = new Set(["squashfs", "iso9660", "udf", "erofs", "cramfs", "romfs", "composefs"])

const isReadOnly = ({ type, options }: Mount): boolean => IMAGES.has(type) || options.includes("ro")

/**
 * The mounts of disks: each device once, under its shortest path. One that is read-only cannot fill up; a
 * device that is also mounted to be written is examined there.
 */
export const diskMounts = async (mounts: ReadonlyArray<Mount>) => {
  const types = await readFile("/proc/filesystems", "utf8").catch(() => "")
  const withDevice = new Set(types.split("\n").flatMap((line) => /^\t(\S+)$/.exec(line)?.[1] ?? []))
  const hasDevice = ({ type }: Mount) => withDevice.has(type) || WITHOUT_DEVICE.has(type)
  // Where mounts lie on each other, the last one counts. The root of a container is an overlay, or not in the list.
  const root = mounts.findLast(({ path }) => path === "/") ?? { device: "", path: "/", type: "", options: [] }
  const all = [root, ...mounts.filter((one) => one.path !== "/" && hasDevice(one))]
  const pathOf = new Map<string, string>()
  for (const { device, path } of all.filter((one) => !isReadOnly(one))) {
    const known = pathOf.get(device)
    if (known === undefined || path.length < known.length) pathOf.set(device, path)
  }
  const leftOut = all.filter((one) => isReadOnly(one) && !pathOf.has(one.device))
  return { paths: [...pathOf.values()].toSorted(), leftOut: leftOut.map(({ path }) => path) }
}

import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { readFile, statfs } from "node:fs/promises"
import { record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { examining } from "./examining.ts"
import { allMounts, type Mount, mountAt, mountedAt, mountPaths, rootOf } from "./mount.ts"
import { critical, type Fault, type Finding, type Measure, probe } from "./Probe.ts"
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
    const named = { paths: mounts ?? [], leftOut: [] }
    const { paths, leftOut } = mounts === undefined ? await diskMounts(all, clock) : named
    const more = leftOut.length > SHOWN ? ` and ${leftOut.length - SHOWN} more` : ""
    const shown = `read-only and left out: ${leftOut.slice(0, SHOWN).join(", ")}${more}`
    if (paths.length === 0)
      throw new Error(`no file system can fill up; ${shown}; name in mounts what to examine`)
    // Bytes replace the percentage, which says little of a large disk.
    const limits = { free: bytes === undefined ? givenOr(free, OWN) : free, bytes, inodes }
    const found = await Promise.all(paths.map((path) => measure(path, limits, { clock, all })))
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

/** `all` are the mounts of the system; none where it does not say. */
const measure = async (
  path: string,
  limits: Limits,
  { clock, all }: { readonly clock: Clock; readonly all: ReadonlyArray<Mount> },
): Promise<Finding> => {
  let found
  let mounted: Mount | undefined
  try {
    // Asked first, because a dead file system can still know how large it was.
    if (all.length > 0) mounted = await mountedAt(all, path, clock)
    if (all.length > 0 && mounted === undefined) throw new Error("nothing is mounted there")
    found = await fileSystems(path, clock)
  } catch (error) {
    return { ...critical(`${path} cannot be examined: ${explainError(error)}`), words: "" }
  }
  const { failure, type } = mounted ?? {}
  const faults: ReadonlyArray<Fault> =
    failure === undefined ? [] : [{ status: "critical", words: `${path} ${failure}` }]
  if (found.blocks === 0) {
    // A tmpfs of size 0 has no limit.
    if (type === "tmpfs") return { words: `${path} has no limit`, measures: [] }
    const said = `${path} does not say how large it is`
    return { words: "", measures: [], faults: [{ status: "unknown", words: said }] }
  }
  const { bavail, bfree, blocks, bsize, ffree, files } = found
  // Blocks that only root may use count neither as free nor as used, as in df.
  const usable = blocks - bfree + bavail
  // Nothing is left for users of a disk that is all root's.
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
  return { words, measures, faults }
}

/** File systems without a device that hold data nevertheless. */
const WITHOUT_DEVICE = new Set(["zfs", "btrfs"])
/** Whether no other mount hides this one. What cannot be examined is reported as that. */
const isSeen = async ({ path, dev }: Mount, mounts: ReadonlyArray<Mount>, clock: Clock): Promise<boolean> => {
  try {
    return path === "/" || (await mountAt(mounts, path, clock))?.dev === dev
  } catch {
    return true
  }
}

/**
 * The mounts of disks: each device once, under its shortest path that no other mount hides. One that is read-only
 * cannot fill up; a device that is also mounted to be written is examined there.
 */
export const diskMounts = async (mounts: ReadonlyArray<Mount>, clock: Clock) => {
  const types = await readFile("/proc/filesystems", "utf8").catch(() => "")
  const withDevice = new Set(types.split("\n").flatMap((line) => /^\t(\S+)$/.exec(line)?.[1] ?? []))
  const hasDevice = ({ type }: Mount) => withDevice.has(type) || WITHOUT_DEVICE.has(type)
  // The root of a container is an overlay, or not in the list.
  const all = [rootOf(mounts), ...mounts.filter((one) => one.path !== "/" && hasDevice(one))]
  const isLeftOut = ({ isReadOnly, failure }: Mount) => isReadOnly && failure === undefined
  const ofDevice = Map.groupBy(all, ({ dev }) => dev)
  const shown = [...ofDevice.values()].map(async (same) => {
    const byLength = same.filter((one) => !isLeftOut(one)).toSorted((a, b) => a.path.length - b.path.length)
    for (const one of byLength) if (await isSeen(one, mounts, clock)) return one.path
    return undefined
  })
  const paths = (await Promise.all(shown)).flatMap((path) => path ?? [])
  const leftOut = [...ofDevice.values()].filter((same) => same.every(isLeftOut)).flat()
  return { paths: paths.toSorted(), leftOut: leftOut.map(({ path }) => path) }
}

import { processTree } from "./cpuSeconds.ts"
import { procFile } from "./procFile.ts"

const fieldsOf = (pid: number): ReadonlyMap<string, number> => {
  const text = procFile(pid, "status") ?? ""
  return new Map(
    Array.from(text.matchAll(/^(\w+):\s+(\d+) kB$/gm), ([, name = "", kib]) => [name, Number(kib)]),
  )
}

const KIB_PER_MIB = 1024

/** Current resident memory of a process, in MiB; undefined without /proc. */
export const residentMiB = (pid: number): number | undefined => {
  const kib = fieldsOf(pid).get("VmRSS")
  return kib === undefined ? undefined : kib / KIB_PER_MIB
}

/** Memory of a process with its part of what it shares with others, in MiB; undefined without /proc. */
export const proportionalMiB = (pid: number): number | undefined => {
  const kib = /^Pss:\s+(\d+) kB$/m.exec(procFile(pid, "smaps_rollup") ?? "")?.[1]
  return kib === undefined ? undefined : Number(kib) / KIB_PER_MIB
}

/** Peak resident memory of a process, in MiB; undefined without /proc. */
export const peakResidentMiB = (pid: number): number | undefined => {
  const kib = fieldsOf(pid).get("VmHWM")
  return kib === undefined ? undefined : kib / KIB_PER_MIB
}

/**
 * Current resident memory of a process and its children, in MiB, with shared memory counted once.
 * Undefined without /proc.
 */
export const treeResidentMiB = (root: number): number | undefined => {
  const all = processTree(root).map(fieldsOf)
  const sizes = all.filter((fields) => fields.has("VmRSS"))
  if (sizes.length === 0) return undefined
  const alone = sizes.reduce((sum, fields) => sum + (fields.get("RssAnon") ?? 0), 0)
  const shared = Math.max(...sizes.map((fields) => fields.get("RssShmem") ?? 0))
  return (alone + shared) / KIB_PER_MIB
}

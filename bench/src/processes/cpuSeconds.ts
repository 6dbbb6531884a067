import { existsSync, readdirSync } from "node:fs"
import { procFile } from "./procFile.ts"

// sysconf(_SC_CLK_TCK) is 100 on every supported machine.
const TICKS_PER_SECOND = 100

interface ProcessTimes {
  readonly pid: number
  readonly parent: number
  readonly ownTicks: number
  /** Of children that ended and were waited for. */
  readonly endedChildrenTicks: number
}

const timesOf = (pid: number): ProcessTimes | undefined => {
  const text = procFile(pid, "stat")
  if (text === undefined) return undefined
  // The name stands in parentheses and may hold anything.
  const fields = text
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number)
  const field = (index: number) => fields[index] ?? 0
  return {
    pid,
    parent: field(1),
    ownTicks: field(11) + field(12),
    endedChildrenTicks: field(13) + field(14),
  }
}

/** Process ids of a process and of all its descendants. */
export const processTree = (root: number): ReadonlyArray<number> => {
  if (!existsSync("/proc")) return [root]
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const parents = new Map(all.map((name) => [Number(name), timesOf(Number(name))?.parent] as const))
  const found = [root]
  for (const pid of found) {
    for (const [child, parent] of parents) if (parent === pid) found.push(child)
  }
  return found
}

/** Processor time of a process with its threads and without its children. Undefined without /proc. */
export const ownCpuSeconds = (pid: number): number | undefined => {
  const times = timesOf(pid)
  return times === undefined ? undefined : times.ownTicks / TICKS_PER_SECOND
}

/**
 * Processor time, user and system, of a process with its threads and children so far, in seconds.
 * Undefined without /proc.
 */
export const cpuSeconds = (root: number): number | undefined => {
  const tree = processTree(root).flatMap((pid) => timesOf(pid) ?? [])
  if (tree.length === 0) return undefined
  const ended = tree.find(({ pid }) => pid === root)?.endedChildrenTicks ?? 0
  return tree.reduce((sum, { ownTicks }) => sum + ownTicks, ended) / TICKS_PER_SECOND
}

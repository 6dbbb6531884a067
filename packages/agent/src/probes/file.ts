import { compileGlob } from "@tocsin/contract/formats/compileGlob"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { readdir, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { codeOf, oneOf, record } from "../config/Reader.ts"
import { examining } from "./examining.ts"
import { absolutePath, probe } from "./Probe.ts"
import { MILLIS_PER_SECOND } from "./network.ts"
import { ageFields, byteThresholds } from "./thresholds.ts"

const missing = oneOf("ok", "warning", "critical", "unknown")

/** A file server's clock may be ahead by this. */
const SKEW_SECONDS = 60

/** The age of a file since its last change, and its size; of the newest one where the name is a glob. */
export const file = probe(
  { name: "file", lane: "host" },
  record({ path: absolutePath, size: byteThresholds, missing, ...ageFields }, ["path"]),
  async ({ path, size: sizes, missing: status = "critical", ...ages }, { clock }) => {
    const found = await newestOf(path, clock)
    if (found === undefined) {
      const words = `${path} does not exist`
      return { words, measures: [], faults: status === "ok" ? [] : [{ status, words }] }
    }
    const age = (clock.wall() - found.mtimeMs) / MILLIS_PER_SECOND
    const seconds = age < 0 && age > -SKEW_SECONDS ? 0 : Math.trunc(age)
    const old = `${found.path} ${ageText(seconds)}`
    const size = `${found.size} ${found.size === 1 ? "byte" : "bytes"}`
    const large = `${found.path} has ${size}`
    return {
      words: `${old}, ${size}`,
      measures: [
        { label: "age", value: seconds, unit: "s", thresholds: ages, words: old },
        { label: "size", value: found.size, unit: "B", thresholds: sizes, words: large },
      ],
    }
  },
)

const UNITS = [
  ["days", 86_400],
  ["hours", 3_600],
  ["minutes", 60],
] as const

const ageText = (seconds: number): string => {
  if (seconds < 0) return `dated ${-seconds} s ahead`
  if (seconds === 1) return "1 second old"
  const [unit, length] = UNITS.find(([, one]) => seconds >= 2 * one) ?? ["seconds", 1]
  return `${Math.floor(seconds / length)} ${unit} old`
}

const stats = examining((path) => stat(path))
const folders = examining((path) => readdir(path))

/** A file that goes away meanwhile is missing. */
const orMissing = async <A>(found: Promise<A>): Promise<A | undefined> => {
  try {
    return await found
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return undefined
    throw error
  }
}

const newestOf = async (path: string, clock: Clock) => {
  const [folder, name] = [dirname(path), basename(path)]
  const statOf = async (one: string) => {
    const found = await orMissing(stats(one, clock))
    return found && { path: one, mtimeMs: found.mtimeMs, size: found.size }
  }
  if (!/[*?]/.test(name)) return await statOf(path)
  const names = (await orMissing(folders(folder, clock))) ?? []
  let newest: Awaited<ReturnType<typeof statOf>>
  // One after another: the threads are few.
  for (const one of names.filter(compileGlob(name))) {
    const found = await statOf(join(folder, one))
    if (found !== undefined && found.mtimeMs > (newest?.mtimeMs ?? Number.NEGATIVE_INFINITY)) newest = found
  }
  return newest
}

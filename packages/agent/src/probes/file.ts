import { compileGlob } from "@tocsin/contract/compileGlob"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { readdir, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { oneOf, record } from "../config/Reader.ts"
import { FileSystems } from "./FileSystems.ts"
import { absolutePath } from "./mounts.ts"
import type { Probe, SettingsOf } from "./Probe.ts"
import { ageFields, byteThresholds } from "./probeReaders.ts"

const reader = record(
  {
    path: absolutePath,
    size: byteThresholds,
    missing: oneOf("ok", "warning", "critical", "unknown"),
    ...ageFields,
  },
  ["path"],
)

const MILLIS_PER_SECOND = 1_000
/** A file server's clock may be ahead by this. */
const SKEW_SECONDS = 60

/** The age of a file since its last change, and its size; of the newest one where the name is a glob. */
export const file: Probe<SettingsOf<typeof reader>> = {
  title: "FILE",
  lane: "host",
  reader,
  run: async ({ path, size: sizes, missing = "critical", warning, critical }, { clock }) => {
    if (path === undefined) throw new Error("it has no path")
    const found = await newestOf(path, clock)
    if (found === undefined) {
      const words = `${path} does not exist`
      return { words, measures: [], faults: missing === "ok" ? [] : [{ status: missing, words }] }
    }
    const age = (clock.wall() - found.mtimeMs) / MILLIS_PER_SECOND
    const seconds = age < 0 && age > -SKEW_SECONDS ? 0 : Math.trunc(age)
    const old = `${found.path} ${ageText(seconds)}`
    const size = `${found.size} ${found.size === 1 ? "byte" : "bytes"}`
    const thresholds = { warning, critical }
    return {
      words: `${old}, ${size}`,
      measures: [
        { label: "age", value: seconds, unit: "s", thresholds, words: old },
        {
          label: "size",
          value: found.size,
          unit: "B",
          words: `${found.path} has ${size}`,
          ...(sizes && { thresholds: sizes }),
        },
      ],
    }
  },
}

const UNITS = [
  ["days", 86_400],
  ["hours", 3_600],
  ["minutes", 60],
] as const

const ageText = (seconds: number): string => {
  if (seconds < 0) return `dated ${-seconds} s ahead`
  const [unit, length] = UNITS.find(([, one]) => seconds >= 2 * one) ?? [
    seconds === 1 ? "second" : "seconds",
    1,
  ]
  return `${Math.floor(seconds / length)} ${unit} old`
}

const stats = new FileSystems((path) => stat(path))
const folders = new FileSystems((path) => readdir(path))

interface FoundFile {
  readonly path: string
  readonly mtimeMs: number
  readonly size: number
}

/** A file that goes away meanwhile is missing. */
const statOf = async (path: string, clock: Clock): Promise<FoundFile | undefined> => {
  try {
    const { mtimeMs, size } = await stats.examine(path, clock)
    return { path, mtimeMs, size }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR"].includes(String(error.code))

const newestOf = async (path: string, clock: Clock): Promise<FoundFile | undefined> => {
  const [folder, name] = [dirname(path), basename(path)]
  if (!/[*?]/.test(name)) return await statOf(path, clock)
  const matches = compileGlob(name)
  const names = await folders.examine(folder, clock).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  let newest: FoundFile | undefined
  // One after another: the threads are few.
  for (const one of names.filter(matches)) {
    const found = await statOf(join(folder, one), clock)
    if (found !== undefined && found.mtimeMs > (newest?.mtimeMs ?? Number.NEGATIVE_INFINITY)) newest = found
  }
  return newest
}

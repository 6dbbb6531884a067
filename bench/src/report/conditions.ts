import { execFileSync } from "node:child_process"
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs"
import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os"
import { join } from "node:path"
import process from "node:process"
import type { Measures } from "../Bench.ts"
import { quantile } from "../statistics.ts"
import type { Conditions } from "./Results.ts"

const SYNCS = 200
const BLOCK_BYTES = 4096

/** The median time in milliseconds of an append with fdatasync in this folder. */
const syncMillis = (folder: string): number => {
  const path = join(folder, "sync")
  const file = openSync(path, "w")
  const block = Buffer.alloc(BLOCK_BYTES, 1)
  const times = Array.from({ length: SYNCS }, () => {
    const start = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    return performance.now() - start
  })
  closeSync(file)
  rmSync(path)
  return quantile(times, 0.5)
}

const git = (folder: string, ...args: ReadonlyArray<string>): string => {
  try {
    return execFileSync("git", ["-C", folder, ...args], {
      stdio: ["ignore", "pipe", "ignore"],
      encoding: "utf8",
    }).trim()
  } catch {
    // An archive without its history.
    return ""
  }
}

/** The commit of a checkout, and whether files of it were changed since. */
const commitOf = (checkout: string): string => {
  const commit = git(checkout, "rev-parse", "--short=10", "HEAD")
  if (commit === "") return "unknown"
  return git(checkout, "status", "--porcelain", "--untracked-files=no") === ""
    ? commit
    : `${commit} and changes`
}

/** Describes the machine and the conditions, before the first case. */
export const conditionsOf = (options: {
  readonly checkout: string
  readonly folder: string
  readonly measures: Measures
}): Conditions => ({
  startedAt: new Date().toISOString(),
  commit: commitOf(options.checkout),
  node: process.version,
  processor: `${cpus()[0]?.model ?? "unknown"} (${arch()})`,
  cores: availableParallelism(),
  memoryMiB: Math.round(totalmem() / 2 ** 20),
  kernel: `${type()} ${release()}`,
  dataFolder: options.folder,
  syncMillis: syncMillis(options.folder),
  loadAverage: loadavg()[0] ?? 0,
  agents: options.measures.agents,
  seconds: options.measures.seconds,
  repeats: options.measures.repeats,
})

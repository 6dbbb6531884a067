import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { readFile, realpath, statfs } from "node:fs/promises"
import { afterMillis } from "../clock/Clock.ts"
import { record, text } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import type { Finding, Measure } from "./Finding.ts"
import type { Probe, SettingsOf } from "./Probe.ts"
import { givenOr, type Thresholds, thresholdsOf } from "./Range.ts"
import { oneOrMore, thresholdFields, thresholds } from "./probeReaders.ts"

/** Node.js has four threads for files and names, and a mount that hangs holds one until it answers. */
const AT_ONCE = 2
const PATIENCE_MILLIS = 5_000

/** Examines file systems so that those that hang leave threads for everything else. */
export class FileSystems<A> {
  readonly #look: (path: string) => Promise<A>
  readonly #patience: number
  readonly #underWay = new Map<string, Promise<A>>()

  constructor(look: (path: string) => Promise<A>, patience = PATIENCE_MILLIS) {
    this.#look = look
    this.#patience = patience
  }

  /** Rejects if the file system does not answer in time, or others that hang keep it waiting. */
  async examine(path: string, clock: Clock): Promise<A> {
    let cancelLimit = (): void => {}
    const late = new Promise<never>((_, reject) => {
      cancelLimit = afterMillis(clock, this.#patience, () => reject(new Error(this.#whyLate(path))))
    })
    try {
      return await Promise.race([this.#answerOf(path, late), late])
    } finally {
      cancelLimit()
    }
  }

  async #answerOf(path: string, late: Promise<never>): Promise<A> {
    while (!this.#underWay.has(path) && this.#underWay.size >= AT_ONCE) {
      const others = [...this.#underWay.values()].map((one) => one.catch(() => {}))
      await Promise.race([...others, late])
    }
    const known = this.#underWay.get(path)
    if (known !== undefined) return await known
    const answer = this.#look(path).finally(() => this.#underWay.delete(path))
    this.#underWay.set(path, answer)
    return await answer
  }

  #whyLate(path: string): string {
    return this.#underWay.has(path)
      ? "the file system does not answer"
      : `${[...this.#underWay.keys()].join(" and ")} hang`
  }
}

const reader = record({
  mounts: oneOrMore(text({ max: 4_096, form: /^\//, expected: "an absolute path" }), 100),
  ...thresholdFields,
  inodes: thresholds,
})

/** Percent free. */
const DEFAULT_FREE = thresholdsOf("10:", "5:")
const DEFAULT_INODES = thresholdsOf("10:", "5:")

/** Space and inodes that are free, of each mount, in percent of what a user can have. */
export const disk: Probe<SettingsOf<typeof reader>> = {
  title: "DISK",
  reader,
  run: async ({ mounts, inodes = DEFAULT_INODES, ...free }, { clock }) => {
    const paths = mounts ?? (await diskMounts())
    const mounted = mounts && new Set((await allMounts()).map(({ path }) => path)).add("/")
    const limits = givenOr(free, DEFAULT_FREE)
    const found = await Promise.all(
      paths.map((path) => measure(path, { free: limits, inodes, clock, mounted })),
    )
    return {
      words: found.map(({ words }) => words).join(", "),
      measures: found.flatMap(({ measures }) => measures),
      faults: found.flatMap(({ faults = [] }) => faults),
    }
  },
}

const GIB = 2 ** 30

/** Shared by all checks, because all share the threads. */
const fileSystems = new FileSystems((path) => statfs(path))

interface Measuring {
  readonly free: Thresholds
  readonly inodes: Thresholds
  readonly clock: Clock
  /** Every mount of the system; the root alone where it does not say. */
  readonly mounted: ReadonlySet<string> | undefined
}

const measure = async (path: string, { free, inodes, clock, mounted }: Measuring): Promise<Finding> => {
  let found
  try {
    found = await fileSystems.examine(path, clock)
    if (mounted !== undefined && mounted.size > 1 && !mounted.has(await realpath(path)))
      throw new Error("nothing is mounted there")
  } catch (error) {
    return {
      words: "",
      measures: [],
      faults: [{ status: "critical", words: `${path} cannot be examined: ${explainError(error)}` }],
    }
  }
  const { bavail, bfree, blocks, bsize, ffree, files } = found
  // Blocks that only root may use count neither as free nor as used, as in df.
  const usable = blocks - bfree + bavail
  const percent = usable === 0 ? 0 : (100 * bavail) / usable
  const words = `${path} ${percent.toFixed(1)}% free (${((bavail * bsize) / GIB).toFixed(1)} GiB)`
  const measures: Array<Measure> = [
    { label: `${path} free`, value: percent, unit: "%", thresholds: free, words },
  ]
  // Some file systems have no fixed number of inodes.
  if (files > 0) {
    const left = (100 * ffree) / files
    measures.push({
      label: `${path} inodes`,
      value: left,
      unit: "%",
      thresholds: inodes,
      words: `${path} ${left.toFixed(1)}% of inodes free`,
    })
  }
  return { words, measures }
}

/** File systems without a device that hold data nevertheless. */
const WITHOUT_DEVICE = new Set(["zfs", "btrfs"])
/** Full from the beginning. */
const READ_ONLY = new Set(["squashfs", "iso9660", "udf"])

/** None where the system does not say. */
const allMounts = async () => {
  const lines = await readFile("/proc/self/mounts", "utf8").catch(() => "")
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [device = "", path = "", type = ""] = line.split(" ").map(unescaped)
      return { device, path, type }
    })
}

/** The mounts of disks: each device once, under its shortest path. */
const diskMounts = async (): Promise<ReadonlyArray<string>> => {
  const [mounts, types] = await Promise.all([
    allMounts(),
    readFile("/proc/filesystems", "utf8").catch(() => ""),
  ])
  const withDevice = new Set(types.split("\n").flatMap((line) => /^\t(\S+)$/.exec(line)?.[1] ?? []))
  const pathOf = new Map<string, string>()
  for (const { device, path, type } of mounts) {
    if ((!withDevice.has(type) && !WITHOUT_DEVICE.has(type)) || READ_ONLY.has(type)) continue
    const known = pathOf.get(device)
    if (known === undefined || path.length < known.length) pathOf.set(device, path)
  }
  const all = new Set(pathOf.values())
  // The root of a container is an overlay.
  return [...all.add("/")].toSorted()
}

/** The kernel writes spaces and backslashes of paths as octal numbers. */
const unescaped = (field: string): string =>
  field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)))

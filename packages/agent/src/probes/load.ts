import { readFile } from "node:fs/promises"
import { cpus, loadavg } from "node:os"
import { flag, type Reader, record, refused } from "../config/Reader.ts"
import { probe } from "./Probe.ts"
import { Range } from "@tocsin/contract/formats/Range"

const MINUTES = [1, 5, 15] as const

const rangesOf = (text: string): ReadonlyArray<Range> =>
  text.split(",").flatMap((one) => Range.parse(one.trim()) ?? [])

/** One range for all three averages, or three, as a list or separated by commas. */
const ranges: Reader<ReadonlyArray<Range>> = (value, place) => {
  const isWritten = Array.isArray(value) || typeof value === "string" || typeof value === "number"
  const read = rangesOf(String(value))
  const isWhole = read.length === String(value).split(",").length && [1, 3].includes(read.length)
  return isWritten && isWhole ? read : refused(place, 'must be one range or three, such as "10" or "15,10,5"')
}

/** For each processor: fewer than this many programs wait. */
const DEFAULT_WARNING = rangesOf("4,3,2")
const DEFAULT_CRITICAL = rangesOf("8,6,4")

/** The load is the whole host's: the processors that this process may use, in a set or by a quota, can be fewer. */
const onlineProcessors = async (): Promise<number> => {
  const online = await readFile("/sys/devices/system/cpu/online", "utf8").catch(() => "")
  // Such as 0-3,6.
  const counts = online.split(",").map((part) => {
    const [first = 0, last = first] = part.split("-").map(Number.parseFloat)
    return last - first + 1
  })
  const count = counts.reduce((sum, one) => sum + one, 0) || cpus().length
  if (count === 0)
    throw new Error("this system does not say how many processors it has: set per_cpu to false")
  return count
}

/** The load averages; of each processor by default, as `per_cpu: false` changes. */
export const load = probe(
  { name: "load", lane: "host" },
  record({ warning: ranges, critical: ranges, per_cpu: flag }),
  async ({ warning, critical, per_cpu: isPerCpu = true }) => {
    const isDefault = warning === undefined && critical === undefined && isPerCpu
    const [warn, crit] = isDefault ? [DEFAULT_WARNING, DEFAULT_CRITICAL] : [warning, critical]
    const processors = isPerCpu ? await onlineProcessors() : 1
    const measures = loadavg().map((average, index) => {
      const value = average / processors
      return {
        label: `load${MINUTES[index]}`,
        value,
        unit: "" as const,
        thresholds: { warning: warn?.[index] ?? warn?.[0], critical: crit?.[index] ?? crit?.[0] },
        words: `${value.toFixed(2)} over ${MINUTES[index]} min`,
      }
    })
    const shown = measures.map(({ value }) => value.toFixed(2)).join(", ")
    return { words: `${shown}${isPerCpu ? ` on each of ${processors} processors` : ""}`, measures }
  },
)

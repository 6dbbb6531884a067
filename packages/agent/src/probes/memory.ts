import { readFile } from "node:fs/promises"
import { freemem, totalmem } from "node:os"
import { record } from "../config/Reader.ts"
import { type Measure, probe } from "./Probe.ts"
import { givenOr, thresholdFields, thresholds, thresholdsOf } from "./thresholds.ts"

const OWN = thresholdsOf("10:", "5:")
const MIB = 2 ** 20

const mebibytes = (bytes: number): number => Math.round(bytes / MIB)

/** Memory that programs can have, in percent of all; swap that is free, where there is swap. */
export const memory = probe(
  { name: "memory", lane: "host" },
  record({ ...thresholdFields, swap: thresholds }),
  async ({ swap, ...limits }) => {
    const { available, total, swapFree, swapTotal } = await memoryNow()
    const share = (part: number, whole: number) => (100 * part) / whole
    const value = share(available, total)
    const words = `${value.toFixed(1)}% available (${mebibytes(available)} of ${mebibytes(total)} MiB)`
    const free = share(swapFree, swapTotal)
    const ofSwap: Measure = {
      label: "swap_free",
      value: free,
      unit: "%",
      thresholds: swap,
      words: `${free.toFixed(1)}% of swap free`,
    }
    const ofMemory: Measure = {
      label: "available",
      value,
      unit: "%",
      thresholds: givenOr(limits, OWN),
      words,
    }
    if (swap !== undefined && Number.isNaN(swapTotal))
      throw new Error("this system does not say how much swap it has: remove swap")
    if (swapTotal > 0) return { words, measures: [ofMemory, ofSwap] }
    return { words: swap === undefined ? words : `${words}, no swap`, measures: [ofMemory] }
  },
)

const KIB = 1_024

/** In bytes. Linux says how much is available without swapping; elsewhere what is free must do. */
const memoryNow = async () => {
  const text = await readFile("/proc/meminfo", "utf8").catch(() => "")
  const of = (name: string): number | undefined => {
    const [, found] = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text) ?? []
    return found === undefined ? undefined : Number(found) * KIB
  }
  return {
    available: of("MemAvailable") ?? freemem(),
    total: of("MemTotal") ?? totalmem(),
    swapFree: of("SwapFree") ?? 0,
    swapTotal: of("SwapTotal") ?? Number.NaN,
  }
}

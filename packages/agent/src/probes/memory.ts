import { readFile } from "node:fs/promises"
import { freemem, totalmem } from "node:os"
import { record } from "../config/Reader.ts"
import type { Measure } from "./Finding.ts"
import type { Probe, SettingsOf } from "./Probe.ts"
import { thresholdFields, thresholds } from "./probeReaders.ts"
import { givenOr, thresholdsOf } from "./Range.ts"

const reader = record({ ...thresholdFields, swap: thresholds })

const DEFAULTS = thresholdsOf("10:", "5:")
const MIB = 2 ** 20

/** Memory that programs can have, in percent of all; swap that is free, where there is swap. */
export const memory: Probe<SettingsOf<typeof reader>> = {
  title: "MEMORY",
  lane: "host",
  reader,
  run: async ({ warning, critical, swap }) => {
    const { available, total, swapFree, swapTotal } = await memoryNow()
    const percent = (100 * available) / total
    const words = `${percent.toFixed(1)}% available (${Math.round(available / MIB)} of ${Math.round(total / MIB)} MiB)`
    const measures: Array<Measure> = [
      {
        label: "available",
        value: percent,
        unit: "%",
        thresholds: givenOr({ warning, critical }, DEFAULTS),
        words,
      },
    ]
    if (swapTotal > 0) {
      const left = (100 * swapFree) / swapTotal
      const said = `${left.toFixed(1)}% of swap free`
      measures.push({
        label: "swap_free",
        value: left,
        unit: "%",
        words: said,
        ...(swap !== undefined && { thresholds: swap }),
      })
    }
    return { words, measures }
  },
}

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
    swapTotal: of("SwapTotal") ?? 0,
  }
}

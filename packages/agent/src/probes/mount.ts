import { flag, record, text } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { allMounts, mountAt, type Mount, mountPaths } from "./mounts.ts"
import type { Probe, SettingsOf } from "./Probe.ts"
import { oneOrMore, thresholdFields } from "./probeReaders.ts"
import { givenOr, thresholdsOf } from "./Range.ts"

const reader = record(
  { mounts: mountPaths, types: oneOrMore(text({ max: 64 }), 10), writable: flag, ...thresholdFields },
  ["mounts"],
)

/** None at all. */
const OWN = thresholdsOf(undefined, "0")

/** Mounts that are missing, of another type, or read-only where they should not be. */
export const mount: Probe<SettingsOf<typeof reader>> = {
  title: "MOUNT",
  lane: "host",
  reader,
  run: async ({ mounts: paths = [], types, writable: isWritable = false, warning, critical }, { clock }) => {
    const mounts = await allMounts()
    if (mounts.length === 0) throw new Error("this system does not list its mounts")
    const faultOf = (found: Mount | undefined): string | undefined => {
      if (found === undefined) return "is not mounted"
      if (types !== undefined && !types.includes(found.type)) return `is of type ${found.type}`
      return isWritable && found.options.includes("ro") ? "is read-only" : undefined
    }
    const judged = paths.map(async (path) => {
      try {
        const fault = faultOf(await mountAt(mounts, path, clock))
        return fault === undefined ? [] : [`${path} ${fault}`]
      } catch (error) {
        return [`${path} cannot be examined: ${explainError(error)}`]
      }
    })
    const bad = (await Promise.all(judged)).flat()
    const words = bad.length === 0 ? `${paths.join(", ")} mounted` : bad.join(", ")
    const thresholds = givenOr({ warning, critical }, OWN)
    return { words, measures: [{ label: "mounts", value: bad.length, unit: "", thresholds, words }] }
  },
}

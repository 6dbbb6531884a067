import { execFile } from "node:child_process"
import { record, text } from "../config/Reader.ts"
import type { Probe, SettingsOf } from "./Probe.ts"
import { oneOrMore, thresholdFields } from "./probeReaders.ts"
import { givenOr, thresholdsOf } from "./Range.ts"

const unitName = text({
  max: 256,
  form: /^[A-Za-z0-9:_.\\@][A-Za-z0-9:_.\\@-]*$/,
  expected: "the name of a unit, such as nginx.service",
})
const STATE = { form: /^[a-z-]+$/, expected: "a state such as active" }

const reader = record({
  units: oneOrMore(unitName, 200),
  states: oneOrMore(text({ max: 32, ...STATE }), 10),
  ...thresholdFields,
})

/** None at all. */
const OWN = thresholdsOf(undefined, "0")

/** Units that are not in a wanted state; without `units`, all that have failed. */
export const systemd: Probe<SettingsOf<typeof reader>> = {
  title: "SYSTEMD",
  lane: "host",
  reader,
  run: async ({ units, states = ["active"], warning, critical }, { signal }) => {
    const bad =
      units === undefined ? await failedUnits(signal) : await unitsOutside({ units, states, signal })
    const words =
      bad.length === 0
        ? units === undefined
          ? "no unit has failed"
          : `${units.join(", ")} ${states.join(" or ")}`
        : bad.join(", ")
    return {
      words,
      measures: [
        {
          label: "units",
          value: bad.length,
          unit: "",
          thresholds: givenOr({ warning, critical }, OWN),
          words,
        },
      ],
    }
  },
}

interface Asked {
  readonly units: ReadonlyArray<string>
  readonly states: ReadonlyArray<string>
  readonly signal: AbortSignal
}

/** systemd answers for units that it does not know too: they are inactive. */
const unitsOutside = async ({ units, states, signal }: Asked): Promise<ReadonlyArray<string>> => {
  const answer = await systemctl(
    ["show", "--property=Id,LoadState,ActiveState,SubState", "--", ...units],
    signal,
  )
  return answer
    .trim()
    .split("\n\n")
    .flatMap((block, index) => {
      const of = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(block)?.[1] ?? ""
      const [active, sub, found] = [of("ActiveState"), of("SubState"), of("LoadState")]
      if (states.includes(active)) return []
      const state = found === "loaded" ? `${active} (${sub})` : found
      return [`${units[index] ?? of("Id")} is ${state}`]
    })
}

const failedUnits = async (signal: AbortSignal): Promise<ReadonlyArray<string>> => {
  const answer = await systemctl(["list-units", "--state=failed", "--plain", "--no-legend", "--full"], signal)
  return answer.split("\n").flatMap((line) => {
    const [unit = ""] = line.trim().split(/\s+/)
    return unit === "" ? [] : [`${unit} has failed`]
  })
}

const LONGEST_ANSWER = 1_048_576

const systemctl = (args: ReadonlyArray<string>, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { signal, maxBuffer: LONGEST_ANSWER, env: { PATH: process.env["PATH"], LC_ALL: "C" } }
    execFile("systemctl", [...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      reject(new Error(`systemctl: ${stderr.trim() || error.message}`))
    })
  })

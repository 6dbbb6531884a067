import { execFile } from "node:child_process"
import { oneOrMore, record, text } from "../config/Reader.ts"
import { figure, probe } from "./Probe.ts"
import { givenOr, thresholdFields, thresholdsOf } from "./thresholds.ts"

const unitName = text({
  max: 255,
  form: /^[A-Za-z0-9:_.\\@-]+$/,
  expected: "the name of a unit, such as nginx.service",
})
const state = text({ max: 32, form: /^[a-z-]+$/, expected: "a state such as active" })

/** None at all. */
const OWN = thresholdsOf(undefined, "0")

/** States of a unit that runs, for `systemctl is-active` of systemd 252 and 260 too. */
const ALSO_ACTIVE = ["reloading", "refreshing"]

/** Units that are not in a wanted state; without `units`, all that have failed. */
export const systemd = probe(
  { name: "systemd", lane: "host" },
  record({ units: oneOrMore(unitName, 200), states: oneOrMore(state, 10), ...thresholdFields }),
  async ({ units, states = ["active"], ...limits }, { signal }) => {
    const bad = units === undefined ? await failedUnits(signal) : await unitsOutside(states, units, signal)
    const good = units === undefined ? "no unit has failed" : `${units.join(", ")} ${states.join(" or ")}`
    const words = bad.join(", ") || good
    return figure({ label: "units", value: bad.length, unit: "", thresholds: givenOr(limits, OWN), words })
  },
)

/** systemd answers for units that it does not know too: they are inactive. */
const unitsOutside = async (
  states: ReadonlyArray<string>,
  units: ReadonlyArray<string>,
  signal: AbortSignal,
): Promise<ReadonlyArray<string>> => {
  const asked = ["show", "--property=Id,LoadState,ActiveState,SubState", "--", ...units]
  const answer = await systemctl(asked, signal)
  const wanted = states.includes("active") ? [...states, ...ALSO_ACTIVE] : states
  const blocks = answer.trim().split("\n\n")
  if (blocks.length !== units.length)
    throw new Error(`systemctl answers for ${blocks.length} of ${units.length} units`)
  return blocks.flatMap((block, index) => {
    const of = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(block)?.[1] ?? ""
    const [active, sub, found] = [of("ActiveState"), of("SubState"), of("LoadState")]
    if (wanted.includes(active)) return []
    return [`${units[index] ?? of("Id")} is ${found === "loaded" ? `${active} (${sub})` : found}`]
  })
}

const failedUnits = async (signal: AbortSignal): Promise<ReadonlyArray<string>> => {
  const answer = await systemctl(["list-units", "--state=failed", "--plain", "--no-legend", "--full"], signal)
  const units = answer.split("\n").map((line) => line.trim().replace(/\s.*/, ""))
  return units.filter((unit) => unit !== "").map((unit) => `${unit} has failed`)
}

const LONGEST_ANSWER = 1_048_576

const systemctl = (args: ReadonlyArray<string>, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { signal, maxBuffer: LONGEST_ANSWER, env: { PATH: process.env["PATH"], LC_ALL: "C" } }
    execFile("systemctl", [...args], options, (error, stdout, stderr) => {
      // In a chroot, systemctl ignores the question, says so, and succeeds.
      if (error === null && (stdout.trim() !== "" || stderr.trim() === "")) return resolve(stdout)
      reject(new Error(`systemctl: ${stderr.trim() || error?.message}`))
    })
  })

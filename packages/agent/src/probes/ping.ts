import { BOUNDS } from "@tocsin/contract/watches/watchOptions"
import { spawn } from "node:child_process"
import dns from "node:dns"
import { isIP } from "node:net"
import { afterMillis } from "../clock/Clock.ts"
import { checked, codeOf, integer, record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { judgeOptions, timeFields, timeOf } from "./expectation.ts"
import { critical, probe, type ProbeAround, unknownFinding } from "./Probe.ts"
import { host, MILLIS_PER_SECOND, secondsText, wait, WAIT_MILLIS } from "./network.ts"
import { thresholdsOf } from "./thresholds.ts"

const DEFAULT_COUNT = 3
const ALL_LOST = BOUNDS.percent.max
const percent = integer(BOUNDS.percent)

const fields = {
  host,
  count: integer(BOUNDS.count),
  loss: record({ warning: percent, critical: percent }),
  wait,
  ...timeFields,
}

/** The address of a host that may be reached, because `ping` looks nothing up. */
const addressOf = async (to: string, { targets }: Pick<ProbeAround, "targets">): Promise<string> => {
  if (isIP(to) !== 0) {
    const refusal = targets?.refusalOf(to)
    if (refusal !== undefined) throw new Error(`${to} ${refusal}`)
    return to
  }
  const lookup = targets?.lookup ?? dns.lookup
  return new Promise((resolve, reject) => {
    lookup(to, { all: true }, (error, found) => {
      const [first] = typeof found === "string" ? [{ address: found }] : found
      if (error !== null || first === undefined) reject(error ?? new Error(`${to} has no address`))
      else resolve(first.address)
    })
  })
}

const PROGRAM = "ping"

/** After the end of its time, `ping` is asked for what it counted, and then ended. */
const FAREWELL_MILLIS = 500

interface Run {
  readonly address: string
  readonly count: number
  readonly millis: number
}

/** Runs the program `ping`; what it wrote, and whether it was ended. */
const pinged = async ({ address, count, millis }: Run, { clock, signal }: ProbeAround) => {
  const child = spawn(PROGRAM, ["-c", `${count}`, address], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, LC_ALL: "C" },
  })
  let [output, isCut] = ["", false]
  const end = (): void => {
    isCut = true
    // It then writes its statistics.
    child.kill("SIGINT")
  }
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("latin1").on("data", (part: string) => {
      if (output.length < LONGEST_OUTPUT) output += part
    })
  const cancels = [
    afterMillis(clock, millis, end),
    afterMillis(clock, millis + FAREWELL_MILLIS, () => void child.kill("SIGKILL")),
  ]
  const stop = (): void => void child.kill("SIGKILL")
  signal.addEventListener("abort", stop)
  try {
    return await new Promise<{ readonly output: string; readonly isCut: boolean }>((resolve, reject) => {
      child.on("error", reject).on("close", () => resolve({ output, isCut }))
    })
  } finally {
    for (const cancel of cancels) cancel()
    signal.removeEventListener("abort", stop)
  }
}

const LONGEST_OUTPUT = 65_536
const COUNTED = /(\d{1,10}) packets transmitted, (\d{1,10}) (?:packets )?received/
const TIMES = /(?:rtt|round-trip) min\/avg\/max(?:\/\w+)? = [\d.]+\/([\d.]+)\//
const FORBIDDEN = /not permitted|permission denied|Lacking privilege/i

/** The packets that a host answers, by the system's program; the time is their average. */
export const ping = probe(
  { name: "ping", lane: "network" },
  checked(record(fields, ["host"]), judgeOptions("ping")),
  async ({ count = DEFAULT_COUNT, host: to, loss, wait: millis = WAIT_MILLIS, ...times }, around) => {
    try {
      const address = await addressOf(to, around)
      const { isCut, output } = await pinged({ address, count, millis }, around)
      around.signal.throwIfAborted()
      if (FORBIDDEN.test(output))
        return unknownFinding(
          `${to}: ping may not send: give the program the capability cap_net_raw, or this group a place in net.ipv4.ping_group_range`,
        )
      const [, sent, received] = COUNTED.exec(output)?.map(Number) ?? []
      if (sent === undefined || received === undefined) {
        const line = output
          .trim()
          .split("\n")
          .at(-1)
          ?.replace(/^ping: /, "")
        return critical(`${to}: ${line || `no answer within ${millis / MILLIS_PER_SECOND} s`}`)
      }
      // The last one may still be on its way where the time was over.
      const judged = isCut && received > 0 && received < sent ? sent - 1 : sent
      const lost = judged === 0 ? ALL_LOST : Math.max(0, ((judged - received) / judged) * ALL_LOST)
      const seconds = Number(TIMES.exec(output)?.[1] ?? Number.NaN) / MILLIS_PER_SECOND
      const average = Number.isNaN(seconds) ? "" : ` in ${secondsText(seconds)} on average`
      const words = `${to} answered ${received} of ${judged}${average}`
      const { critical: most = ALL_LOST, warning } = loss ?? {}
      const isLost = lost >= (warning ?? most)
      // A range is bad above its end, and a loss is bad at it.
      const at = (bound: number | undefined) => (bound === undefined ? undefined : `@${bound}:`)
      return {
        words,
        measures: [
          {
            label: "loss",
            value: lost,
            unit: "%",
            thresholds: thresholdsOf(at(warning), at(most)),
            words,
          },
          ...(Number.isNaN(seconds) ? [] : [timeOf(seconds, times, isLost ? "" : words)]),
        ],
      }
    } catch (error) {
      if (codeOf(error) === "ENOENT")
        return unknownFinding(
          `${to}: there is no program ping here: install it, on Debian the package iputils-ping`,
        )
      if (codeOf(error) === "EACCES" || codeOf(error) === "EPERM")
        return unknownFinding(`${to}: the program ping may not be run: allow this user to run it`)
      return critical(`${to}: ${explainError(error)}`)
    }
  },
)

import { connect, type NetConnectOpts } from "node:net"
import { afterMillis } from "../clock/Clock.ts"
import { anyText, integer, type ReadBy, record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import {
  absolutePath,
  connecting,
  critical,
  figure,
  type Finding,
  host,
  noAnswerWithin,
  probe,
  type ProbeAround,
  secondsText,
  timed,
  wait,
  WAIT_MILLIS,
} from "./Probe.ts"
import { thresholdFields } from "./Range.ts"

export const port = integer({ min: 1, max: 65_535 })

/** The settings of a probe that connects, and may send and expect a text. */
const exchangeFields = { send: anyText, expect: anyText, wait, ...thresholdFields }
const exchanged = record(exchangeFields)

/** Connects, sends a text if there is one, and waits for the expected one; thresholds are seconds. */
export const tcp = probe(
  { name: "tcp", lane: "network" },
  record({ host, port, ...exchangeFields }, ["host", "port"]),
  ({ host: to, port: at, ...settings }, around) =>
    exchangeAt(
      `${to}:${at}`,
      () => ({ ...connecting(to, around.targets), host: to, port: at }),
      settings,
      around,
    ),
)

/** The exchange of the tcp probe, over a Unix socket. */
export const unix = probe(
  { name: "unix", lane: "host" },
  record({ path: absolutePath, ...exchangeFields }, ["path"]),
  ({ path, ...settings }, around) => exchangeAt(path, () => ({ path }), settings, around),
)

/** The finding of one exchange at an address, which `optionsOf` may refuse. */
const exchangeAt = async (
  target: string,
  optionsOf: () => NetConnectOpts,
  { send, expect, wait: millis = WAIT_MILLIS, ...thresholds }: ReadBy<typeof exchanged>,
  around: ProbeAround,
): Promise<Finding> => {
  try {
    const { seconds } = await timed(around.clock, () =>
      exchange(optionsOf(), { send, expect, millis }, around),
    )
    const words = `${target} answered in ${secondsText(seconds)}`
    return figure({ label: "time", value: seconds, unit: "s", thresholds, words })
  } catch (error) {
    return critical(`${target}: ${explainError(error)}`)
  }
}

interface Exchange {
  readonly send: string | undefined
  readonly expect: string | undefined
  readonly millis: number
}

const exchange = (
  options: NetConnectOpts,
  { send, expect, millis }: Exchange,
  { clock, signal }: ProbeAround,
): Promise<void> =>
  new Promise((resolve, reject) => {
    // The signal ends the connection too, as at the deadline of the check.
    const socket = connect({ ...options, signal })
    const over = (error?: Error): void => {
      cancelLimit()
      socket.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    const cancelLimit = afterMillis(clock, millis, () => over(new Error(noAnswerWithin(millis))))
    const expected = expect === undefined ? undefined : Buffer.from(expect).toString("latin1")
    let recent = ""
    socket.on("connect", () => {
      if (send !== undefined) socket.write(send)
      if (expected === undefined) over()
    })
    socket.on("data", (chunk) => {
      if (expected === undefined) return
      recent += chunk.toString("latin1")
      if (recent.includes(expected)) return over()
      // A tail that may begin the expected text; a server that sends single bytes makes no more
      // work.
      recent = recent.slice(Math.max(0, recent.length - expected.length + 1))
    })
    socket.on("end", () => over(new Error(`closed without ${JSON.stringify(expect ?? "")}`)))
    socket.on("error", over)
  })

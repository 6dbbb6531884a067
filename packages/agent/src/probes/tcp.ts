import { connect, type NetConnectOpts } from "node:net"
import { afterMillis } from "../clock/Clock.ts"
import { anyText, integer, record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import type { Finding } from "./Finding.ts"
import { connecting, type Probe, type ProbeAround, secondsText, type SettingsOf, timed } from "./Probe.ts"
import { host, thresholdFields, wait, WAIT_MILLIS } from "./probeReaders.ts"

export const port = integer({ min: 1, max: 65_535 })

/** The settings of a probe that connects, and may send and expect a text. */
export const exchangeFields = { send: anyText, expect: anyText, wait, ...thresholdFields }

const reader = record({ host, port, ...exchangeFields }, ["host", "port"])

/** Connects, sends a text if there is one, and waits for the expected one; thresholds are seconds. */
export const tcp: Probe<SettingsOf<typeof reader>> = {
  title: "TCP",
  lane: "network",
  reader,
  run: async ({ host: to = "", port: at = 0, ...settings }, around) =>
    await exchangeAt(
      `${to}:${at}`,
      () => ({ ...connecting(to, around.targets), host: to, port: at }),
      settings,
      around,
    ),
}

type ExchangeSettings = SettingsOf<ReturnType<typeof record<typeof exchangeFields>>>

/** The finding of one exchange at an address, which `optionsOf` may refuse. */
export const exchangeAt = async (
  target: string,
  optionsOf: () => NetConnectOpts,
  { send, expect, wait: millis = WAIT_MILLIS, ...thresholds }: ExchangeSettings,
  around: ProbeAround,
): Promise<Finding> => {
  try {
    const { seconds } = await timed(around.clock, () =>
      exchange({ options: optionsOf(), send, expect, millis, around }),
    )
    const words = `${target} answered in ${secondsText(seconds)}`
    return { words, measures: [{ label: "time", value: seconds, unit: "s", thresholds, words }] }
  } catch (error) {
    return critical(`${target}: ${explainError(error)}`)
  }
}

/** A finding that is critical without a figure. */
export const critical = (words: string): Finding => ({
  words,
  measures: [],
  faults: [{ status: "critical", words }],
})

interface Exchange {
  readonly options: NetConnectOpts
  readonly send: string | undefined
  readonly expect: string | undefined
  readonly millis: number
  readonly around: ProbeAround
}

const exchange = (asked: Exchange): Promise<void> =>
  new Promise((resolve, reject) => {
    const { around, expect, send, millis } = asked
    // The signal ends the connection too, as at the deadline of the check.
    const socket = connect({ ...asked.options, signal: around.signal })
    const over = (error?: Error): void => {
      cancelLimit()
      socket.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    const end = () => over(new Error(`no answer within ${millis / 1_000} s`))
    const cancelLimit = afterMillis(around.clock, millis, end)
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
    socket.on("error", (error) => over(error))
  })

import { connect } from "node:net"
import { afterMillis } from "../clock/Clock.ts"
import { anyText, integer, record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import type { Finding } from "./Finding.ts"
import { connecting, type Probe, type ProbeAround, secondsText, type SettingsOf, timed } from "./Probe.ts"
import { host, thresholdFields, wait, WAIT_MILLIS } from "./probeReaders.ts"

export const port = integer({ min: 1, max: 65_535 })

const reader = record({ host, port, send: anyText, expect: anyText, wait, ...thresholdFields }, [
  "host",
  "port",
])

/** Connects, sends a text if there is one, and waits for the expected one; thresholds are seconds. */
export const tcp: Probe<SettingsOf<typeof reader>> = {
  title: "TCP",
  reader,
  run: async (
    { host: to = "", port: at = 0, send, expect, wait: millis = WAIT_MILLIS, ...thresholds },
    around,
  ) => {
    const target = `${to}:${at}`
    try {
      const { seconds } = await timed(around.clock, () =>
        exchange({ host: to, port: at, send, expect, millis, around }),
      )
      const words = `${target} answered in ${secondsText(seconds)}`
      return { words, measures: [{ label: "time", value: seconds, unit: "s", thresholds, words }] }
    } catch (error) {
      return critical(`${target}: ${explainError(error)}`)
    }
  },
}

/** A finding that is critical without a figure. */
export const critical = (words: string): Finding => ({
  words,
  measures: [],
  faults: [{ status: "critical", words }],
})

interface Exchange {
  readonly host: string
  readonly port: number
  readonly send: string | undefined
  readonly expect: string | undefined
  readonly millis: number
  readonly around: ProbeAround
}

const exchange = (asked: Exchange): Promise<void> =>
  new Promise((resolve, reject) => {
    const { around, expect, send, millis } = asked
    // The signal ends the connection too, as at the deadline of the check.
    const socket = connect({
      ...connecting(asked.host, around.targets),
      host: asked.host,
      port: asked.port,
      signal: around.signal,
    })
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

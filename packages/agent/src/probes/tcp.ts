import { quoted } from "@tocsin/contract/watches/ConditionValue"
import { BOUNDS } from "@tocsin/contract/watches/watchOptions"
import { once } from "node:events"
import { connect, isIP, type Socket } from "node:net"
import { addAbortSignal } from "node:stream"
import { anyText, checked, flag, integer, type Place, type ReadBy, record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { absolutePath, critical, figure, type Finding, probe, type ProbeAround } from "./Probe.ts"
import { connected, host, limited, plainName, secondsText, timed, wait, WAIT_MILLIS } from "./network.ts"
import { judgeOptions, timeFields, timeOf } from "./expectation.ts"
import { identityFault } from "./certificate.ts"
import { thresholdFields } from "./thresholds.ts"
import { judgeTrust, trustFields, trusting } from "./trust.ts"

export const port = integer(BOUNDS.port)

/** The settings of a probe that connects, and may send and expect a text. */
const exchangeFields = { send: anyText, expect: anyText, wait, ...thresholdFields, ...timeFields }
const exchanged = record(exchangeFields)

const fields = { host, port, tls: flag, ...trustFields, ...exchangeFields }
const read = record(fields, ["host", "port"])

const judgeTls = (settings: ReadBy<typeof read>, place: Place): void => {
  judgeTrust(settings, place)
  judgeOptions("tcp")(settings, place)
  for (const name of Object.keys(trustFields))
    if (name in settings && settings.tls !== true) place.refuse("needs tls: true", [...place.path, name])
}

/**
 * Connects, sends a text if there is one, and waits for the expected one, with `tls` inside TLS with a server whose
 * certificate is trusted and names it; thresholds are seconds.
 */
export const tcp = probe({ name: "tcp", lane: "network" }, checked(read, judgeTls), (settings, around) => {
  const { host: to, port: at } = settings
  const { targets } = around
  const open = async (signal: AbortSignal): Promise<Socket> => {
    if (settings.tls !== true) return connected(to, at, { signal, targets })
    const trust = await trusting(settings)
    // Loaded only where it is used: TLS takes some megabytes.
    const { connect: connectSecurely } = await import("node:tls")
    const socket = await connected(to, at, { signal, targets })
    // An address is no name to ask for.
    const name = plainName(to)
    const named = isIP(name) === 0 && { servername: name }
    return ready(
      connectSecurely({ socket, host: name, ...named, ...trust, checkServerIdentity: identityFault }),
      "secureConnect",
      signal,
    )
  }
  return exchangeAt(`${to}:${at}`, open, settings, around)
})

/** The exchange of the tcp probe, over a Unix socket. */
export const unix = probe(
  { name: "unix", lane: "host" },
  checked(record({ path: absolutePath, ...exchangeFields }, ["path"]), judgeOptions("unix")),
  ({ path, ...settings }, around) =>
    exchangeAt(path, (signal) => ready(connect({ path }), "connect", signal), settings, around),
)

/** A connection after the event that says that texts may follow. */
const ready = async (socket: Socket, event: string, signal: AbortSignal): Promise<Socket> => {
  await once(addAbortSignal(signal, socket), event)
  return socket
}

/** The finding of one exchange at an address; `open` may refuse it. */
const exchangeAt = async (
  target: string,
  open: (signal: AbortSignal) => Promise<Socket>,
  { send, expect, wait: millis = WAIT_MILLIS, ...times }: ReadBy<typeof exchanged>,
  around: ProbeAround,
): Promise<Finding> => {
  const heard = { text: "" }
  try {
    const { seconds } = await timed(around.clock, () =>
      limited(millis, around, async (signal) =>
        exchange(addAbortSignal(signal, await open(signal)), { send, expect, heard }),
      ),
    )
    const words = `${target} answered in ${secondsText(seconds)}`
    return figure(timeOf(seconds, times, words))
  } catch (error) {
    const shown = Buffer.from(heard.text.slice(0, LONGEST_QUOTED), "latin1").toString()
    return critical(`${target}: ${explainError(error)}${shown === "" ? "" : `: it sent ${quoted(shown)}`}`)
  }
}

interface Exchange {
  readonly send: string | undefined
  readonly expect: string | undefined
  /** The beginning of what came, for the words of a failure. */
  readonly heard: { text: string }
}

/** Bytes of an answer in which the expected text is looked for. */
const LONGEST_ANSWER = 65_536

const exchange = async (socket: Socket, { expect, heard, send }: Exchange): Promise<void> => {
  try {
    if (send !== undefined) socket.write(send)
    if (expect === undefined) return
    const expected = Buffer.from(expect).toString("latin1")
    let [recent, bytes] = ["", 0]
    // A stream of bytes without an encoding yields buffers.
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      const part = chunk.toString("latin1", 0, LONGEST_ANSWER - bytes)
      bytes += part.length
      if (heard.text.length < LONGEST_QUOTED) heard.text += part
      recent += part
      if (recent.includes(expected)) return
      if (bytes === LONGEST_ANSWER) throw new Error(`sent 64 KiB without ${quoted(expect)}`)
      // A tail that may begin the expected text; a server that sends single bytes makes no more
      // work.
      recent = recent.slice(Math.max(0, recent.length - expected.length + 1))
    }
    throw new Error(`closed without ${quoted(expect)}`)
  } finally {
    socket.destroy()
  }
}

const LONGEST_QUOTED = 1_024

import { once } from "node:events"
import { connect, isIP, type Socket } from "node:net"
import { addAbortSignal } from "node:stream"
import { anyText, checked, flag, integer, type Place, type ReadBy, record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import {
  absolutePath,
  connected,
  critical,
  figure,
  type Finding,
  host,
  limited,
  plainName,
  probe,
  type ProbeAround,
  secondsText,
  timed,
  wait,
  WAIT_MILLIS,
} from "./Probe.ts"
import { identityFault } from "./certificate.ts"
import { thresholdFields } from "./thresholds.ts"
import { judgeTrust, trustFields, trusting } from "./trust.ts"

export const port = integer({ min: 1, max: 65_535 })

/** The settings of a probe that connects, and may send and expect a text. */
const exchangeFields = { send: anyText, expect: anyText, wait, ...thresholdFields }
const exchanged = record(exchangeFields)

const fields = { host, port, tls: flag, ...trustFields, ...exchangeFields }
const read = record(fields, ["host", "port"])

const judgeTls = (settings: ReadBy<typeof read>, place: Place): void => {
  judgeTrust(settings, place)
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
  record({ path: absolutePath, ...exchangeFields }, ["path"]),
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
  { send, expect, wait: millis = WAIT_MILLIS, ...thresholds }: ReadBy<typeof exchanged>,
  around: ProbeAround,
): Promise<Finding> => {
  try {
    const { seconds } = await timed(around.clock, () =>
      limited(millis, around, async (signal) =>
        exchange(addAbortSignal(signal, await open(signal)), { send, expect }),
      ),
    )
    const words = `${target} answered in ${secondsText(seconds)}`
    return figure({ label: "time", value: seconds, unit: "s", thresholds, words })
  } catch (error) {
    return critical(`${target}: ${explainError(error)}`)
  }
}

const exchange = async (
  socket: Socket,
  { send, expect }: { readonly send: string | undefined; readonly expect: string | undefined },
): Promise<void> => {
  try {
    if (send !== undefined) socket.write(send)
    if (expect === undefined) return
    const expected = Buffer.from(expect).toString("latin1")
    let recent = ""
    // A stream of bytes without an encoding yields buffers.
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      recent += chunk.toString("latin1")
      if (recent.includes(expected)) return
      // A tail that may begin the expected text; a server that sends single bytes makes no more
      // work.
      recent = recent.slice(Math.max(0, recent.length - expected.length + 1))
    }
    throw new Error(`closed without ${JSON.stringify(expect)}`)
  } finally {
    socket.destroy()
  }
}

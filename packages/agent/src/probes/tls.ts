import { type StartTls, STARTTLS_NAMES, STARTTLS_PORTS } from "@tocsin/contract/watches/watchOptions"
import { once } from "node:events"
import { isIP, type Socket } from "node:net"
import { checked, flag, oneOf, record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { critical, type Fault, probe } from "./Probe.ts"
import { connected, host, limited, plainName, secondsText, timed, wait, WAIT_MILLIS } from "./network.ts"
import { judgeOptions, timeFields, timeOf } from "./expectation.ts"
import { startTls } from "./startTls.ts"
import { leftFields } from "./thresholds.ts"
import { port } from "./tcp.ts"
import { daysLeft, identityFault, misnomerOf, shownCertificate } from "./certificate.ts"
import { judgeTrust, type Trust, trustFields, trusting } from "./trust.ts"

/** The port without `starttls`. */
const HTTPS_PORT = 443
const starttls = oneOf(...STARTTLS_NAMES)

const fields = {
  host,
  port,
  name: host,
  verify: flag,
  starttls,
  wait,
  ...trustFields,
  days: record(leftFields),
  ...leftFields,
  ...timeFields,
}

const reader = checked(record(fields, ["host"]), (settings, place) => {
  judgeTrust(settings, place)
  judgeOptions("tls")(settings, place)
  if (settings.days !== undefined && (settings.warning ?? settings.critical) !== undefined)
    place.refuse("stands in warning or critical too: remove one of them", [...place.path, "days"])
})

/** The days that a server's certificate has left, and whether it is trusted and names the server. */
export const tls = probe({ name: "tls", lane: "network" }, reader, async (settings, around) => {
  const { host: to, starttls: by, verify = true, name: wanted = to, wait: millis = WAIT_MILLIS } = settings
  const { port: at = by === undefined ? HTTPS_PORT : STARTTLS_PORTS[by] } = settings
  const target = `${to}:${at}`
  const name = plainName(wanted)
  try {
    const opening = (signal: AbortSignal) => connected(to, at, { signal, targets: around.targets })
    const handshaking = (signal: AbortSignal) => handshake(opening, { name, by, trust: settings }, signal)
    const { seconds, value: shown } = await timed(around.clock, () => limited(millis, around, handshaking))
    const days = daysLeft(shown.certificates, around.clock.wall(), settings.days ?? settings)
    const words = `${target}: ${days.words}`
    const refusals = verify ? refusalsOf(shown, days.value < 0) : []
    const faults = refusals.map((why): Fault => ({ status: "critical", words: `${target}: ${why}` }))
    const { time } = settings
    const timing = faults.length === 0 ? `${target} answered in ${secondsText(seconds)}` : ""
    const measures = time ? [timeOf(seconds, { time }, timing)] : []
    return { words, measures: [{ ...days, words }, ...measures], faults }
  } catch (error) {
    return critical(`${target}: ${explainError(error)}`)
  }
})

const CODE = /^[A-Z_]+$/
const EXPIRED = "CERT_HAS_EXPIRED"
/** Node.js adds what it finds about the name to the codes of OpenSSL. */
const MISNAMED = "ERR_TLS_CERT_ALTNAME_INVALID"

/** The figure of the probe says when the server's own certificate expires, and nothing of those above it. */
const refusalsOf = (
  { distrust, misnomer }: Awaited<ReturnType<typeof handshake>>,
  isExpired: boolean,
): ReadonlyArray<string> => {
  const expired = isExpired ? undefined : "an intermediate or root certificate has expired"
  const untrusted =
    distrust === EXPIRED
      ? expired
      : distrust?.replace(CODE, (code) => code.replaceAll("_", " ").toLowerCase())
  return [untrusted, misnomer].filter((words) => words !== undefined)
}

/** OpenSSL has more reasons than Node.js has codes: for those, the socket's own part has the words, which no type shows. */
const reasonOf = (code: unknown, socket: object): string => {
  const { _handle: handle }: { readonly _handle?: { readonly verifyError?: () => unknown } } = socket
  const words = code === "UNSPECIFIED" ? handle?.verifyError?.() : code
  return explainError(words ?? code)
}

interface Handshake {
  readonly name: string
  readonly by: StartTls | undefined
  readonly trust: Trust
}

/** The certificate of a server, why it is not trusted, as a code of OpenSSL, and why it does not name the server. */
const handshake = async (
  opening: (signal: AbortSignal) => Promise<Socket>,
  { name, by, trust }: Handshake,
  signal: AbortSignal,
) => {
  // Loaded only where it is used: TLS takes some megabytes.
  const { connect } = await import("node:tls")
  const secured = await trusting(trust)
  // The outermost alone: Node.js crashes where the socket below a TLS connection is destroyed first.
  let open: Socket | undefined
  const opened = <S extends Socket>(socket: S): S => {
    open = socket
    return socket.on("error", () => {})
  }
  const end = (): void => void open?.destroy(signal.reason)
  signal.addEventListener("abort", end)
  try {
    const plain = opened(await opening(signal))
    if (by) await startTls(plain, by, name)
    signal.throwIfAborted()
    const socket = opened(
      connect({
        socket: plain,
        // An address is no name to ask for.
        ...(isIP(name) === 0 && { servername: name }),
        ...secured,
        checkServerIdentity: identityFault,
        rejectUnauthorized: false,
      }),
    )
    await once(socket, "secureConnect", { signal })
    const certificates = await shownCertificate(socket, trust)
    // A code, although its type is an error.
    const refused: unknown = socket.authorizationError
    const distrust = refused && refused !== MISNAMED ? reasonOf(refused, socket) : undefined
    return { certificates, distrust, misnomer: misnomerOf(name, certificates.own) }
  } finally {
    signal.removeEventListener("abort", end)
    open?.destroy()
  }
}

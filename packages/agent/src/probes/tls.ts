import { once } from "node:events"
import type { Socket } from "node:net"
import type { PeerCertificate } from "node:tls"
import { afterMillis } from "../clock/Clock.ts"
import { checked, flag, oneOf, record } from "../config/Reader.ts"
import { daysLeft } from "./certificate.ts"
import { explainError } from "../sending/explainError.ts"
import { connecting, type Probe, type ProbeAround, type SettingsOf } from "./Probe.ts"
import { host, thresholdFields, wait, WAIT_MILLIS } from "./probeReaders.ts"
import { STARTTLS_PORTS, type StartTls, startTls } from "./starttls.ts"
import { critical, port } from "./tcp.ts"
import { judgeTrust, trustFields, trusting } from "./trust.ts"

const HTTPS_PORT = 443

const starttls = oneOf("smtp", "imap", "pop3")

const reader = checked(
  record({ host, port, name: host, verify: flag, starttls, wait, ...trustFields, ...thresholdFields }, [
    "host",
  ]),
  judgeTrust,
)

/** The days that a server's certificate has left, and whether it is trusted and names the server. */
export const tls: Probe<SettingsOf<typeof reader>> = {
  title: "TLS",
  lane: "network",
  reader,
  run: async (settings, around) => {
    const { host: to = "", starttls: by, verify = true, warning, critical: crit } = settings
    const { port: at = by === undefined ? HTTPS_PORT : STARTTLS_PORTS[by] } = settings
    const target = `${to}:${at}`
    try {
      const millis = settings.wait ?? WAIT_MILLIS
      const name = settings.name ?? to
      const trust = await trusting(settings)
      const shown = await handshake({ host: to, port: at, name, by, trust, millis, around })
      const days = daysLeft(shown.certificate, around.clock.wall(), { warning, critical: crit })
      const said = `${target}: ${days.words}`
      return {
        words: said,
        measures: [{ ...days, words: said }],
        faults: (verify ? refusalsOf(shown, days.value < 0) : []).map((words) => ({
          status: "critical",
          words: `${target}: ${words}`,
        })),
      }
    } catch (error) {
      return critical(`${target}: ${explainError(error)}`)
    }
  },
}

interface Handshake {
  readonly host: string
  readonly port: number
  readonly name: string
  readonly by: StartTls | undefined
  readonly trust: Awaited<ReturnType<typeof trusting>>
  readonly millis: number
  readonly around: ProbeAround
}

interface Shown {
  readonly certificate: PeerCertificate
  /** Why it is not trusted, as a code of OpenSSL. */
  readonly distrust: string | undefined
  /** Why it does not name the server. */
  readonly misnomer: string | undefined
}

const EXPIRED = "CERT_HAS_EXPIRED"
/** Node.js adds what it finds about the name to the codes of OpenSSL. */
const MISNAMED = "ERR_TLS_CERT_ALTNAME_INVALID"

/** The figure of the probe says when the server's own certificate expires, and nothing of those above it. */
const refusalsOf = ({ distrust, misnomer }: Shown, isExpired: boolean): ReadonlyArray<string> => {
  const untrusted =
    distrust === EXPIRED
      ? isExpired
        ? undefined
        : "an intermediate or root certificate has expired"
      : distrust?.replaceAll("_", " ").toLowerCase()
  return [untrusted, misnomer].filter((words) => words !== undefined)
}

const handshake = async (asked: Handshake): Promise<Shown> => {
  // Loaded only where it is used: TLS takes some megabytes.
  const { connect, checkServerIdentity } = await import("node:tls")
  const { connect: connectPlainly, isIP } = await import("node:net")
  const { host: to, port: at, name, by, trust, millis, around } = asked
  const target = { ...connecting(to, around.targets), host: to, port: at }
  const limit = new AbortController()
  const signal = AbortSignal.any([around.signal, limit.signal])
  const late = () => limit.abort(new Error(`no answer within ${millis / 1_000} s`))
  const cancelLimit = afterMillis(around.clock, millis, late)
  // The outermost alone: Node.js crashes where the socket below a TLS connection is destroyed first.
  let open: Socket | undefined
  const opened = <S extends Socket>(socket: S): S => {
    open = socket
    return socket.on("error", () => {})
  }
  const end = (): void => void open?.destroy(signal.reason)
  signal.addEventListener("abort", end)
  try {
    const plain = by && opened(connectPlainly(target))
    if (plain && by) await startTls(plain, by)
    signal.throwIfAborted()
    const socket = opened(
      connect({
        ...(plain ? { socket: plain } : target),
        // An address is no name to ask for.
        ...(isIP(name) === 0 && { servername: name }),
        ...trust,
        rejectUnauthorized: false,
      }),
    )
    await once(socket, "secureConnect", { signal })
    const certificate = socket.getPeerCertificate()
    // A code, although its type is an error.
    const refused: unknown = socket.authorizationError
    const distrust = refused && refused !== MISNAMED ? explainError(refused) : undefined
    return { certificate, distrust, misnomer: checkServerIdentity(name, certificate)?.message }
  } catch (error) {
    throw limit.signal.aborted ? limit.signal.reason : error
  } finally {
    cancelLimit()
    signal.removeEventListener("abort", end)
    open?.destroy()
  }
}

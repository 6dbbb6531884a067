import type { PeerCertificate } from "node:tls"
import { afterMillis } from "../clock/Clock.ts"
import { flag, record } from "../config/Reader.ts"
import { daysLeft } from "./certificate.ts"
import { explainError } from "../sending/explainError.ts"
import { connecting, type Probe, type ProbeAround, type SettingsOf } from "./Probe.ts"
import { host, thresholdFields, wait, WAIT_MILLIS } from "./probeReaders.ts"
import { critical, port } from "./tcp.ts"

const HTTPS_PORT = 443

const reader = record({ host, port, name: host, verify: flag, wait, ...thresholdFields }, ["host"])

/** The days that a server's certificate has left, and whether it is trusted and names the server. */
export const tls: Probe<SettingsOf<typeof reader>> = {
  title: "TLS",
  reader,
  run: async (settings, around) => {
    const { host: to = "", port: at = HTTPS_PORT, verify = true, warning, critical: crit } = settings
    const target = `${to}:${at}`
    try {
      const millis = settings.wait ?? WAIT_MILLIS
      const shown = await handshake({ host: to, port: at, name: settings.name ?? to, millis, around })
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
  const { isIP } = await import("node:net")
  const { host: to, port: at, name, millis, around } = asked
  const { clock, signal } = around
  return await new Promise((resolve, reject) => {
    const socket = connect({
      ...connecting(to, around.targets),
      host: to,
      port: at,
      // An address is no name to ask for.
      ...(isIP(name) === 0 && { servername: name }),
      rejectUnauthorized: false,
    })
    const abort = (): void => void socket.destroy(new Error("stopped"))
    const end = () => void socket.destroy(new Error(`no answer within ${millis / 1_000} s`))
    const cancelLimit = afterMillis(clock, millis, end)
    const over = (): void => {
      cancelLimit()
      signal.removeEventListener("abort", abort)
    }
    signal.addEventListener("abort", abort)
    socket.on("error", (error) => {
      over()
      reject(error)
    })
    socket.on("secureConnect", () => {
      over()
      const certificate = socket.getPeerCertificate()
      // A code, although its type is an error.
      const refused: unknown = socket.authorizationError
      const distrust = refused && refused !== MISNAMED ? explainError(refused) : undefined
      socket.destroy()
      resolve({ certificate, distrust, misnomer: checkServerIdentity(name, certificate)?.message })
    })
  })
}

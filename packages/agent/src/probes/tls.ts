import { once } from "node:events"
import { isIP, type Socket } from "node:net"
import { hostname } from "node:os"
import { checked, flag, oneOf, record } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import {
  connected,
  critical,
  type Fault,
  host,
  limited,
  plainName,
  probe,
  wait,
  WAIT_MILLIS,
} from "./Probe.ts"
import { leftFields } from "./thresholds.ts"
import { port } from "./tcp.ts"
import { daysLeft, identityFault, misnomerOf, shownCertificate } from "./certificate.ts"
import { judgeTrust, type Trust, trustFields, trusting } from "./trust.ts"

/** The port without `starttls`, and of the protocols that begin without TLS. */
const HTTPS_PORT = 443
const STARTTLS_PORTS = { smtp: 25, imap: 143, pop3: 110 } as const
const starttls = oneOf("smtp", "imap", "pop3")

const fields = { host, port, name: host, verify: flag, starttls, wait, ...trustFields, ...leftFields }

/** The days that a server's certificate has left, and whether it is trusted and names the server. */
export const tls = probe(
  { name: "tls", lane: "network" },
  checked(record(fields, ["host"]), judgeTrust),
  async (settings, around) => {
    const { host: to, starttls: by, verify = true, name: wanted = to, wait: millis = WAIT_MILLIS } = settings
    const { port: at = by === undefined ? HTTPS_PORT : STARTTLS_PORTS[by] } = settings
    const target = `${to}:${at}`
    const name = plainName(wanted)
    try {
      const opening = (signal: AbortSignal) => connected(to, at, { signal, targets: around.targets })
      const handshaking = (signal: AbortSignal) => handshake(opening, { name, by, trust: settings }, signal)
      const shown = await limited(millis, around, handshaking)
      const days = daysLeft(shown.certificates, around.clock.wall(), settings)
      const words = `${target}: ${days.words}`
      const refusals = verify ? refusalsOf(shown, days.value < 0) : []
      const faults = refusals.map((why): Fault => ({ status: "critical", words: `${target}: ${why}` }))
      return { words, measures: [{ ...days, words }], faults }
    } catch (error) {
      return critical(`${target}: ${explainError(error)}`)
    }
  },
)

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
  readonly by: keyof typeof STARTTLS_PORTS | undefined
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
    if (by) await startTls(plain, by)
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

/** One turn of a dialogue: the command, and the reply that ends it. */
interface Turn {
  readonly send?: string
  /** The last line of a reply; lines before it are its other lines. */
  readonly last: RegExp
  readonly good: RegExp
}

const SMTP_LAST = /^\d{3}(?: |$)/
const ANY_LINE = /^/

/** The commands up to the start of TLS (RFC 3207, RFC 2595 and RFC 9051). */
const DIALOGUES: Readonly<Record<keyof typeof STARTTLS_PORTS, ReadonlyArray<Turn>>> = {
  smtp: [
    { last: SMTP_LAST, good: /^220/ },
    { send: "EHLO", last: SMTP_LAST, good: /^250/ },
    { send: "STARTTLS", last: SMTP_LAST, good: /^220/ },
  ],
  imap: [
    { last: ANY_LINE, good: /^\* OK/i },
    { send: "t STARTTLS", last: /^t /, good: /^t OK/i },
  ],
  pop3: [
    { last: ANY_LINE, good: /^\+OK/ },
    { send: "STLS", last: ANY_LINE, good: /^\+OK/ },
  ],
}

/** Bytes of one reply. */
const LONGEST_REPLY = 65_536
const SHOWN = 200

/** Asks the server to begin TLS, which the next bytes on the socket do. The caller destroys the socket in time. */
const startTls = async (socket: Socket, protocol: keyof typeof DIALOGUES): Promise<void> => {
  let unread = ""
  for (const { send: command, last, good } of DIALOGUES[protocol]) {
    const send = command === "EHLO" ? `EHLO ${ownName(socket)}` : command
    if (send !== undefined) socket.write(`${send}\r\n`)
    for (let size = 0; ;) {
      const end = unread.indexOf("\n")
      if (end < 0) {
        const part = await nextPart(socket)
        size += part.length
        if (size > LONGEST_REPLY) throw new Error(`its reply to ${send ?? "the connection"} does not end`)
        unread += part
        continue
      }
      const line = unread.slice(0, end).trimEnd()
      unread = unread.slice(end + 1)
      if (!last.test(line)) continue
      if (good.test(line)) break
      throw new Error(`${send ?? "it"} was answered ${JSON.stringify(line.slice(0, SHOWN))}`)
    }
  }
  // Others on the way may have put in text that would count as if TLS protected it (CVE-2011-0411).
  if (unread !== "") throw new Error("it sent more before TLS began")
}

/** The name of this host, or its address: servers refuse a name without a domain (RFC 5321, 4.1.3). */
const ownName = ({ localAddress = "127.0.0.1" }: Socket): string => {
  const name = hostname()
  if (/^[\w-]+(?:\.[\w-]+)+$/.test(name)) return name
  return isIP(localAddress) === 6 ? `[IPv6:${localAddress.replace(/%.*/, "")}]` : `[${localAddress}]`
}

const nextPart = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    const over = (act: () => void): void => {
      socket.off("data", took).off("close", closed).off("error", failed).pause()
      act()
    }
    const took = (chunk: Buffer): void => over(() => resolve(chunk.toString("latin1")))
    const closed = (): void => over(() => reject(new Error("it closed the connection before TLS")))
    const failed = (error: Error): void => over(() => reject(error))
    socket.on("data", took).on("close", closed).on("error", failed).resume()
  })

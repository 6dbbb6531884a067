import type { StartTls } from "@tocsin/contract/watches/watchOptions"
import { isIP, type Socket } from "node:net"
import { hostname } from "node:os"

/** Of a server's bytes, as Latin-1: how many are a whole reply, if they are; throws where it refuses. */
type Reply = (bytes: string) => number | undefined

/** One turn of a dialogue: what is sent, and how the reply is read. */
interface Turn {
  readonly send?: (socket: Socket, name: string) => Buffer | string
  readonly reply?: Reply
  /** The command, in words. */
  readonly asked?: string
}

const SHOWN = 200

const refusedBy = (line: string, asked = "it"): Error =>
  new Error(`${asked} was answered ${JSON.stringify(line.slice(0, SHOWN))}`)

/** A reply of lines, of which `last` is the last one. */
const lines =
  (last: RegExp, good: RegExp, asked?: string): Reply =>
  (bytes) => {
    let from = 0
    for (let end = bytes.indexOf("\n"); end >= 0; end = bytes.indexOf("\n", from)) {
      const line = bytes.slice(from, end).trimEnd()
      from = end + 1
      if (!last.test(line)) continue
      if (good.test(line)) return from
      throw refusedBy(line, asked)
    }
    return undefined
  }

const CODE_LAST = /^\d{3}(?: |$)/
const ANY_LINE = /^/

const asking = (asked: string, last: RegExp, good: RegExp): Turn => ({
  asked,
  send: () => `${asked}\r\n`,
  reply: lines(last, good, asked),
})

/** The first that comes of two parts of a stream of XML. */
const tag =
  (good: RegExp, bad: RegExp): Reply =>
  (bytes) => {
    const found = good.exec(bytes)
    if (found !== null) return found.index + found[0].length
    if (bad.test(bytes)) throw new Error("the server offers no TLS")
    return undefined
  }

const POSTGRES_REQUEST = Buffer.from("0000000804d2162f", "hex")

const postgresReply: Reply = (bytes) => {
  if (bytes === "") return undefined
  if (bytes.startsWith("S")) return 1
  throw new Error(bytes.startsWith("N") ? "the server offers no TLS" : "the answer is not that of PostgreSQL")
}

const MYSQL_HEAD = 4
const MYSQL_PROTOCOL = 10
const MYSQL_TLS = 0x08_00
/** Bytes between the end of the version and the capabilities: a thread, 8 bytes of a challenge, and one of nothing. */
const MYSQL_BETWEEN = 13

/** The greeting of MySQL, which says whether it has TLS. */
const mysqlGreeting: Reply = (bytes) => {
  const packet = Buffer.from(bytes, "latin1")
  if (packet.length < MYSQL_HEAD) return undefined
  const size = MYSQL_HEAD + packet.readUIntLE(0, 3)
  if (packet.length < size) return undefined
  const text = packet.indexOf(0, MYSQL_HEAD + 1) + 1
  const at = text + MYSQL_BETWEEN
  if (packet[MYSQL_HEAD] !== MYSQL_PROTOCOL || text === 0 || at + 2 > size)
    throw refusedBy(packet.toString("latin1", MYSQL_HEAD + 3, size))
  if ((packet.readUInt16LE(at) & MYSQL_TLS) === 0) throw new Error("the server offers no TLS")
  return size
}

/** Asks for TLS: capabilities (TLS, protocol 4.1, secure authentication), the largest packet, and UTF-8. */
const MYSQL_REQUEST = Buffer.from(`20000001008a00000000000121${"00".repeat(23)}`, "hex")

/** The extended operation 1.3.6.1.4.1.1466.20037 (RFC 4511, 4.14). */
const LDAP_REQUEST = Buffer.concat([
  Buffer.from("301d02010177188016", "hex"),
  Buffer.from("1.3.6.1.4.1.1466.20037"),
])
const LDAP_EXTENDED = 0x78
const ENUMERATED = 0x0a

/** The length of a part in BER at a byte, and where its content begins. */
const lengthAt = (
  bytes: Buffer,
  at: number,
): { readonly size: number; readonly from: number } | undefined => {
  const first = bytes[at]
  if (first === undefined) return undefined
  if (first < 0x80) return { size: first, from: at + 1 }
  const count = first & 0x7f
  if (count < 1 || count > 4) throw new Error("the answer is not that of LDAP")
  if (bytes.length < at + 1 + count) return undefined
  return { size: bytes.readUIntBE(at + 1, count), from: at + 1 + count }
}

const ldapReply: Reply = (bytes) => {
  const message = Buffer.from(bytes, "latin1")
  const whole = lengthAt(message, 1)
  if (whole === undefined || message.length < whole.from + whole.size) return undefined
  // The number of the message, one byte as it was sent, and the operation.
  const operation = whole.from + 3
  const inner = lengthAt(message, operation + 1)
  if (message[operation] !== LDAP_EXTENDED || inner === undefined || message[inner.from] !== ENUMERATED)
    throw new Error("the answer is not that of LDAP")
  const code = message[inner.from + 2]
  if (code !== 0) throw new Error(`the server refuses TLS (LDAP result ${code})`)
  return whole.from + whole.size
}

const STREAM = (name: string): string =>
  `<?xml version='1.0'?><stream:stream to='${name}' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>`

const DIALOGUES: Readonly<Record<StartTls, ReadonlyArray<Turn>>> = {
  // RFC 3207
  smtp: [
    { reply: lines(CODE_LAST, /^220/) },
    { send: (socket) => `EHLO ${ownName(socket)}\r\n`, reply: lines(CODE_LAST, /^250/) },
    asking("STARTTLS", CODE_LAST, /^220/),
  ],
  // RFC 9051
  imap: [{ reply: lines(ANY_LINE, /^\* OK/i) }, asking("t STARTTLS", /^t /, /^t OK/i)],
  // RFC 2595
  pop3: [{ reply: lines(ANY_LINE, /^\+OK/) }, asking("STLS", ANY_LINE, /^\+OK/)],
  // RFC 4217
  ftp: [{ reply: lines(CODE_LAST, /^220/) }, asking("AUTH TLS", CODE_LAST, /^234/)],
  // RFC 6120, 5.4
  xmpp: [
    {
      send: (_, name) => STREAM(name),
      reply: tag(/<starttls\b[^]*?<\/stream:features>/, /<\/stream:features>|<\/stream:stream>/),
    },
    {
      send: () => "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
      reply: tag(/<proceed\b(?:[^>]*\/>|[^>]*>\s*<\/proceed>)/, /<failure\b|<\/stream:stream>/),
    },
  ],
  postgres: [{ send: () => POSTGRES_REQUEST, reply: postgresReply }],
  mysql: [{ reply: mysqlGreeting }, { send: () => MYSQL_REQUEST }],
  ldap: [{ send: () => LDAP_REQUEST, reply: ldapReply }],
}

/** Bytes of one reply. */
const LONGEST_REPLY = 65_536

/** Asks the server to begin TLS, which the next bytes on the socket do. The caller destroys the socket in time. */
export const startTls = async (socket: Socket, protocol: StartTls, name: string): Promise<void> => {
  let unread = ""
  for (const { asked = "the connection", reply, send } of DIALOGUES[protocol]) {
    // Others on the way may have put in text that would count as if TLS protected it (CVE-2011-0411).
    if (reply === undefined && unread !== "") break
    if (send !== undefined) socket.write(send(socket, name))
    if (reply === undefined) continue
    let end = reply(unread)
    while (end === undefined) {
      if (unread.length > LONGEST_REPLY) throw new Error(`its reply to ${asked} does not end`)
      unread += await nextPart(socket)
      end = reply(unread)
    }
    unread = unread.slice(end)
  }
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

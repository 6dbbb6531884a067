import type { Socket } from "node:net"

/** One turn of a dialogue: the command, and the reply that ends it. */
interface Turn {
  readonly send?: string
  /** The last line of a reply; lines before it are its other lines. */
  readonly last: RegExp
  readonly good: RegExp
}

const SMTP_LAST = /^\d{3}(?: |$)/
const ANY_LINE = /^/
const IMAP_LAST = /^t /

/** The commands up to the start of TLS (RFC 3207, RFC 2595 and RFC 9051). */
const DIALOGUES = {
  smtp: [
    { last: SMTP_LAST, good: /^220/ },
    { send: "EHLO localhost", last: SMTP_LAST, good: /^250/ },
    { send: "STARTTLS", last: SMTP_LAST, good: /^220/ },
  ],
  imap: [
    { last: ANY_LINE, good: /^\* OK/i },
    { send: "t STARTTLS", last: IMAP_LAST, good: /^t OK/i },
  ],
  pop3: [
    { last: ANY_LINE, good: /^\+OK/ },
    { send: "STLS", last: ANY_LINE, good: /^\+OK/ },
  ],
} as const satisfies Readonly<Record<string, ReadonlyArray<Turn>>>

/** The protocols that begin without TLS, and their ports. */
export const STARTTLS_PORTS = { smtp: 25, imap: 143, pop3: 110 } as const satisfies Readonly<
  Record<keyof typeof DIALOGUES, number>
>

export type StartTls = keyof typeof DIALOGUES

/** Bytes of one reply. */
const LONGEST_REPLY = 65_536
const SHOWN = 200

/** Asks the server to begin TLS, which the next bytes on the socket do. The caller destroys the socket in time. */
export const startTls = async (socket: Socket, protocol: StartTls): Promise<void> => {
  const turns: ReadonlyArray<Turn> = DIALOGUES[protocol]
  let unread = ""
  for (const { send, last, good } of turns) {
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

import type { AddressInfo } from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { Effect, Queue } from "effect"

/** One mail as it arrived. */
export interface ReceivedMail {
  readonly sender: string
  readonly recipients: ReadonlyArray<string>
  readonly user: string | undefined
  readonly isSecure: boolean
  /** Of the connection that it came by. */
  readonly session: string
  readonly raw: string
}

/** The parts of a mail, each decoded. */
export const partsOf = (raw: string): ReadonlyArray<string> =>
  raw
    .split(/\r\n--[^\r\n]+/)
    .slice(1)
    .map((part) => {
      const [head = "", ...rest] = part.split("\r\n\r\n")
      const body = rest.join("\r\n\r\n")
      if (/base64/i.test(head)) return Buffer.from(body, "base64").toString("utf8")
      if (!/quoted-printable/i.test(head)) return body
      const bytes = body
        .replaceAll("=\r\n", "")
        .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
      return Buffer.from(bytes, "latin1").toString("utf8")
    })

/** An answer that refuses. */
export const answer = (responseCode: number, text = "[from outside]"): Error =>
  Object.assign(new Error(text), { responseCode })

/** Starts a real mail server on loopback, which ends with the scope. */
export const startMailServer = (options: SMTPServerOptions = {}) =>
  Effect.gen(function* () {
    const mails = yield* Queue.unbounded<ReceivedMail>()
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: options.key === undefined ? ["STARTTLS"] : [],
      disableReverseLookup: true,
      closeTimeout: 1,
      onData: (stream, session, end) => {
        const chunks: Array<Buffer> = []
        stream.on("data", (chunk: Buffer) => chunks.push(chunk))
        stream.on("end", () => {
          const { mailFrom, rcptTo } = session.envelope
          Queue.offerUnsafe(mails, {
            sender: mailFrom === false ? "" : mailFrom.address,
            recipients: rcptTo.map(({ address }) => address),
            user: session.user === undefined ? undefined : String(session.user),
            isSecure: session.secure,
            session: session.id,
            raw: Buffer.concat(chunks).toString("utf8"),
          })
          end()
        })
      },
      ...options,
    })
    server.on("error", () => {})
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
        }),
    )
    // A server that listens on TCP has such an address.
    const { port } = server.server.address() as AddressInfo
    return { mails, port }
  })

import { connect, isIP, type Socket } from "node:net"
import { Duration, Effect, type Option, type Redacted, Result, type Scope } from "effect"
import { checkedLookup, NameLookup, type TargetPolicy } from "../http/checkedLookup.ts"
import type { Answer, NoAnswer } from "../http/exchange.ts"
import { hostOf, parseTarget, SMTP } from "../http/Target.ts"
import type { Mail } from "./mail.ts"

/** Submission with STARTTLS, and with TLS from the start (RFC 6409, RFC 8314). */
const PORTS: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 }

/** Where mails are handed over. Its user and password are secret. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /** TLS from the start, instead of STARTTLS. */
  readonly isSecure: boolean
  readonly auth: { readonly user: string; readonly pass: string } | undefined
}

/** Reads an address of a mail server. A failure completes "… must be …" without it. */
export const parseMailServer = (
  address: Redacted.Redacted,
  policy: TargetPolicy,
): Result.Result<MailServer, string> =>
  Result.map(parseTarget(address, policy, SMTP), ({ credentials, url }) => ({
    host: hostOf(url),
    port: url.port === "" ? (PORTS[url.protocol] ?? 0) : Number(url.port),
    isSecure: url.protocol === "smtps:",
    auth: credentials && { user: credentials.user, pass: credentials.password },
  }))

/** Whether a connection to it stays on this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127\.[\d.]+|::1)$/i.test(host)

/** Hands a mail over; `none` if that takes too long. The body has the number of refused recipients. */
export type SendMail = (mail: Mail) => Effect.Effect<Option.Option<Answer>, NoAnswer>

export interface MailServerOptions extends TargetPolicy {
  readonly server: MailServer
  /** Refuses a connection without TLS. */
  readonly needsTls: boolean
  readonly timeout: Duration.Duration
}

/** More connections than this many servers refuse. */
const MOST_CONNECTIONS = 3

interface Opened {
  connection: Socket
}

/** A client of a mail server; its connections serve several mails and close with the scope. */
export const makeSendMail = Effect.fnUntraced(function* ({
  needsTls,
  server,
  timeout,
  ...policy
}: MailServerOptions): Effect.fn.Return<SendMail, never, Scope.Scope> {
  const { auth, host, isSecure, port } = server
  const lookup = checkedLookup(yield* NameLookup, policy)
  const sockets = new Set<Socket>()
  /** Connects to the address that was checked. */
  const open = (_options: unknown, end: (error: Error | null, opened: Opened | false) => void) => {
    const socket = connect({ host, port, lookup })
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
    socket.once("error", (error) => end(error, false))
    socket.once("connect", () => end(null, { connection: socket }))
  }
  // Only a service that sends mails loads it.
  const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
  const millis = Duration.toMillis(timeout)
  const transport = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createTransport({
        pool: true,
        maxConnections: MOST_CONNECTIONS,
        // The core decides about every repeat.
        maxRequeues: 0,
        host,
        port,
        secure: isSecure,
        requireTLS: needsTls && !isSecure,
        ignoreTLS: !needsTls,
        ...(isIP(host) === 0 && { tls: { servername: host } }),
        ...(auth !== undefined && { auth }),
        forceAuth: auth !== undefined,
        greetingTimeout: millis,
        socketTimeout: millis,
        // No text of a message is a path or an address to read.
        disableFileAccess: true,
        disableUrlAccess: true,
        getSocket: open,
      }),
    ),
    (opened) =>
      Effect.sync(() => {
        opened.close()
        for (const socket of sockets) socket.destroy()
      }),
  )
  return (mail) =>
    Effect.tryPromise({
      try: (signal) => transport.sendMail({ ...mail, signal }),
      catch: (error): Refusal => refusalOf(error),
    }).pipe(
      Effect.map(({ rejected }) => answerOf(DELIVERED, String(rejected.length))),
      Effect.catch(({ code, status }) =>
        status === undefined ? Effect.fail({ code }) : Effect.succeed(answerOf(status, code ?? "")),
      ),
      Effect.timeoutOption(timeout),
    )
})

const DELIVERED = 250

const answerOf = (status: number, body: string): Answer => ({ status, retryAfter: undefined, body })

/** An error of the client: with the status of an answer, or with a code alone. */
interface Refusal extends NoAnswer {
  readonly status: number | undefined
}

const refusalOf = (error: unknown): Refusal => {
  const { code, message, responseCode } = Object(error)
  // nodemailer replaces the code of a failed handshake by that of every socket.
  const isTls = code === "ESOCKET" && /certificate|tls|ssl/i.test(String(message))
  return {
    code: isTls ? "ETLS" : typeof code === "string" ? code : undefined,
    status: typeof responseCode === "number" ? responseCode : undefined,
  }
}

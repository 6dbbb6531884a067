import net, { isIP, type Socket } from "node:net"
import { openConnection } from "@tocsin/contract/openConnection"
import { Duration, Effect, type Option, type Redacted, Result } from "effect"
import type { Answer, NoAnswer } from "../http/exchange.ts"
import { checkedLookup, hostOf, NameLookup, parseTarget, SMTP, type TargetPolicy } from "../http/Target.ts"

/** Submission with STARTTLS, and with TLS from the start (RFC 6409, RFC 8314). */
const PORTS: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 }

/** Reads an address of a mail server. A failure completes "… must be …" without it. */
export const parseMailServer = (address: Redacted.Redacted, policy: TargetPolicy) =>
  Result.map(parseTarget(address, policy, SMTP), ({ credentials, url }) => ({
    host: hostOf(url),
    port: url.port === "" ? (PORTS[url.protocol] ?? 0) : Number(url.port),
    /** TLS from the start, instead of STARTTLS. */
    isSecure: url.protocol === "smtps:",
    isPlain: url.search === "?tls=off",
    auth: credentials && { user: credentials.user, pass: credentials.password },
  }))

/** Whether a connection to it stays on this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127\.[\d.]+|::1)$/i.test(host)

/** A mail as its client takes it. */
export interface Mail {
  readonly from: { readonly name: string; readonly address: string }
  readonly to: Array<string>
  readonly cc: Array<string>
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly messageId: string
  readonly inReplyTo?: string
  readonly references?: string
  readonly headers: Record<string, string>
}

/** Hands one mail over. `none` if that takes too long; the body says who gets none, or has nodemailer's code. */
export type SendMail = (mail: Mail) => Effect.Effect<Option.Option<Answer>, NoAnswer>

interface MailServerOptions extends TargetPolicy {
  readonly server: Result.Result.Success<ReturnType<typeof parseMailServer>>
  /** Refuses a connection without TLS. */
  readonly needsTls: boolean
  readonly timeout: Duration.Duration
}

/** Many servers refuse more connections than this. */
const MOST_CONNECTIONS = 3

interface Offer {
  /** Absent before the first connection. */
  hasUtf8: boolean | undefined
}

const silent = () => {}

/** Notes what a server offers when it is greeted, which it lists in several lines. */
const listening = (offer: Offer) => ({
  level: silent,
  trace: silent,
  info: silent,
  warn: silent,
  error: silent,
  fatal: silent,
  debug: ({ tnx }: { readonly tnx?: unknown }, text: unknown) => {
    if (tnx === "server" && String(text).startsWith("250-"))
      offer.hasUtf8 = /^250[- ]SMTPUTF8\b/imu.test(String(text))
  },
})

/** A client of a mail server, whose connections close with the scope. */
const makeTransport = Effect.fnUntraced(function* ({
  needsTls,
  offer,
  server,
  timeout,
  ...policy
}: MailServerOptions & { readonly offer: Offer }) {
  const { auth, host, isSecure, port } = server
  const lookup = checkedLookup(yield* NameLookup, policy)
  const millis = Duration.toMillis(timeout)
  const closing = new AbortController()
  const sockets = new Set<Socket>()
  /** Connects to the address that was checked. */
  const open = (
    _options: unknown,
    end: (error: Error | null, opened: { connection: Socket } | false) => void,
  ) => {
    const late = AbortSignal.any([closing.signal, AbortSignal.timeout(millis)])
    openConnection(net, { host, port, lookup }, late).then(
      (connection) => {
        sockets.add(connection)
        connection.once("close", () => sockets.delete(connection))
        end(null, { connection })
      },
      (error) => end(error, false),
    )
  }
  // Only a service that sends mails loads it.
  const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
  return yield* Effect.acquireRelease(
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
        ...(isIP(host) === 0 && { tls: { servername: host.replace(/\.$/, "") } }),
        ...(auth !== undefined && { auth }),
        forceAuth: auth !== undefined,
        greetingTimeout: millis,
        socketTimeout: millis,
        // No text of a message is a path or an address to read.
        disableFileAccess: true,
        disableUrlAccess: true,
        getSocket: open,
        logger: listening(offer),
        transactionLog: true,
      }),
    ),
    (opened) =>
      Effect.sync(() => {
        opened.close()
        closing.abort()
        for (const socket of sockets) socket.destroy()
      }),
  )
})

/** Sends mails by a client of their server; its connections serve several. */
export const makeSendMail = Effect.fnUntraced(function* (options: MailServerOptions) {
  const { timeout } = options
  const offer: Offer = { hasUtf8: undefined }
  const transport = yield* makeTransport({ ...options, offer })
  /** Learns what the server offers, where no connection has asked yet. */
  const greeted = Effect.suspend(() =>
    offer.hasUtf8 === undefined
      ? Effect.tryPromise({ try: () => transport.verify(), catch: refusalOf })
      : Effect.void,
  )
  const handOver = Effect.fnUntraced(function* (mail: Mail) {
    const isForeign = mail.to.some(isUtf8) || mail.cc.some(isUtf8)
    if (isForeign) yield* greeted
    const isTaken = (address: string) => offer.hasUtf8 === true || !isUtf8(address)
    const [to, cc] = [mail.to.filter(isTaken), mail.cc.filter(isTaken)]
    const left = [...mail.to, ...mail.cc].filter((address) => !isTaken(address))
    const faults: Array<{ readonly error: string }> = []
    if (left.length > 0)
      faults.push({ error: `The mail server cannot address ${namesOf(left)}: it lacks SMTPUTF8.` })
    if (to.length + cc.length === 0) return answerOf(UNADDRESSABLE, wordsOf(faults))
    const { rejectedErrors = [] } = yield* Effect.tryPromise({
      try: (signal) => transport.sendMail({ ...mail, to, cc, signal }),
      catch: refusalOf,
    })
    const names = rejectedErrors.map(({ recipient = "", responseCode }) => `${recipient} (${responseCode})`)
    if (names.length > 0) faults.unshift({ error: `The mail server refused ${namesOf(names)}.` })
    return answerOf(DELIVERED, wordsOf(faults))
  })
  const sendMail: SendMail = (mail) =>
    handOver(mail).pipe(
      Effect.catch(({ code, status }) =>
        status === undefined ? Effect.fail({ code }) : Effect.succeed(answerOf(status, code ?? "")),
      ),
      Effect.timeoutOption(timeout),
    )
  return sendMail
})

const DELIVERED = 250
/** The mailbox name is not allowed. */
const UNADDRESSABLE = 553

/** Whether only a server with SMTPUTF8 takes an address; a domain has a form in ASCII. */
const isUtf8 = (address: string): boolean =>
  /[\u0080-\u{10ffff}]/u.test(address.slice(0, address.lastIndexOf("@")))

const wordsOf = (faults: ReadonlyArray<{ readonly error: string }>): string =>
  faults.map(({ error }) => error).join(" ")

const MOST_NAMES = 10

const namesOf = (addresses: ReadonlyArray<string>): string => {
  const more = addresses.length - MOST_NAMES
  return `${addresses.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

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

import net, { isIP, type Socket } from "node:net"
import { Transform } from "node:stream"
import { openConnection } from "@tocsin/contract/formats/openConnection"
import { Deferred, Duration, Effect, Option, type Redacted, Result } from "effect"
import { loadPart } from "../loadPart.ts"
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

/** The codes of an answer: of RFC 5321, and behind it the one of RFC 3463 where the server has such. */
export interface MailAnswer {
  /** The first word of the command, or CONN for a greeting. */
  readonly command: string
  readonly status: number
  readonly enhanced: string | undefined
}

/** Why a transaction ended before the text was taken. */
export interface MailFault {
  readonly answer: MailAnswer | undefined
  /** Of Node.js or the client, without an answer. */
  readonly code: string | undefined
  /** The answers that left no recipient, where these ended it. */
  readonly rejected?: ReadonlyMap<string, MailAnswer>
}

/** How a transaction ended whose text was taken, or of which every recipient was refused. */
export interface Transaction {
  readonly accepted: ReadonlyArray<string>
  readonly rejected: ReadonlyMap<string, MailAnswer>
}

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

interface MailServerOptions extends TargetPolicy {
  readonly server: Result.Result.Success<ReturnType<typeof parseMailServer>>
  /** Refuses a connection without TLS. */
  readonly needsTls: boolean
  /** Up to the end of the text. */
  readonly timeout: Duration.Duration
  /** The name that EHLO states. */
  readonly hello: () => string | undefined
}

/** Many servers refuse more connections than this. */
export const MOST_CONNECTIONS = 3

/** For the answer to the end of the text, while the server scans it (RFC 5321 §4.5.3.2.6). */
const LONGEST_SCAN = Duration.minutes(10)

/** The offer of the server when it was last greeted. */
export interface Offer {
  /** Absent before the first connection. */
  hasUtf8: boolean | undefined
  hasLogin: boolean
  /** Whether it offered it on any connection: within TLS, none does. */
  hasStartTls: boolean
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
    if (tnx !== "server" || !String(text).startsWith("250-")) return
    offer.hasUtf8 = /^250[- ]SMTPUTF8\b/imu.test(String(text))
    offer.hasLogin = /^250[- ]AUTH\b/imu.test(String(text))
    offer.hasStartTls ||= /^250[- ]STARTTLS\b/imu.test(String(text))
  },
})

/** A client of a mail server, whose connections close with the scope. */
const makeTransport = Effect.fnUntraced(function* ({
  hello,
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
  const { createTransport } = yield* loadPart(() => import("nodemailer"))
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      const created = createTransport({
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
        // No password goes to a server that does not ask for it: many hide the login without TLS.
        ...(auth !== undefined && { auth }),
        greetingTimeout: millis,
        socketTimeout: Duration.toMillis(LONGEST_SCAN) + millis,
        // No text of a message is a path or an address to read.
        disableFileAccess: true,
        disableUrlAccess: true,
        getSocket: open,
        logger: listening(offer),
        transactionLog: true,
      })
      // Each connection asks for it: the public address may change.
      Object.defineProperty(Object(created.transporter).options, "name", {
        get: hello,
        enumerable: true,
      })
      return created
    }),
    (opened) =>
      Effect.sync(() => {
        opened.close()
        closing.abort()
        for (const socket of sockets) socket.destroy()
      }),
  )
})

/** A client that makes single transactions; its connections serve several. */
export const makeMailClient = Effect.fnUntraced(function* (options: MailServerOptions) {
  const { timeout } = options
  const offer: Offer = { hasUtf8: undefined, hasLogin: false, hasStartTls: false }
  const transport = yield* makeTransport({ ...options, offer })
  /** The ends of texts that are on the way, by the objects of their mails. */
  const ends = new WeakMap<object, Deferred.Deferred<void>>()
  transport.use("stream", ({ data, message }, done) => {
    const end = ends.get(Object(data.envelope))
    message.transform(
      () =>
        new Transform({
          transform: (part, _encoding, next) => next(null, part),
          flush: (next) => {
            if (end !== undefined) Deferred.doneUnsafe(end, Effect.void)
            next()
          },
        }),
    )
    done()
  })
  const transact = Effect.fnUntraced(function* (mail: Mail, to: ReadonlyArray<string>) {
    const envelope = { from: mail.from.address, to: Array.from(to) }
    const end = Deferred.makeUnsafe<void>()
    ends.set(envelope, end)
    const late = Effect.gen(function* () {
      const isSent = Option.isSome(yield* Effect.timeoutOption(Deferred.await(end), timeout))
      if (isSent) yield* Effect.sleep(LONGEST_SCAN)
      return yield* Effect.fail(faultOf(isSent ? "ESCAN" : "ELATE"))
    })
    const sending = Effect.tryPromise({
      try: (signal) => transport.sendMail({ ...mail, envelope, signal }),
      catch: readFault,
    })
    const { accepted = [], rejectedErrors } = yield* Effect.raceFirst(sending, late)
    return { accepted, rejected: rejectionsOf(rejectedErrors) }
  })
  return {
    offer,
    /** Learns what the server offers, where no connection has asked yet. */
    greet: Effect.suspend(() =>
      offer.hasUtf8 === undefined
        ? Effect.raceFirst(
            Effect.tryPromise({ try: () => transport.verify(), catch: readFault }),
            Effect.andThen(Effect.sleep(timeout), Effect.fail(faultOf("ELATE"))),
          )
        : Effect.void,
    ),
    /** Hands a mail over to some of its recipients. */
    transact: (mail: Mail, to: ReadonlyArray<string>): Effect.Effect<Transaction, MailFault> =>
      Effect.catch(transact(mail, to), (fault) =>
        fault.rejected === undefined
          ? Effect.fail(fault)
          : Effect.succeed({ accepted: [], rejected: fault.rejected }),
      ),
  }
})
export type MailClient = Effect.Success<ReturnType<typeof makeMailClient>>

const faultOf = (code: string | undefined): MailFault => ({ answer: undefined, code })

/** The codes alone: the text of a server leaves the service nowhere. */
const readAnswer = (command: unknown, response: unknown): MailAnswer | undefined => {
  const [, status, enhanced] = /^(\d{3})(?:[ -]+([245]\.\d{1,3}\.\d{1,3})\b)?/u.exec(String(response)) ?? []
  const [word = ""] = String(command).split(" ")
  return status === undefined ? undefined : { command: word, status: Number(status), enhanced }
}

const rejectionsOf = (errors: unknown): ReadonlyMap<string, MailAnswer> =>
  new Map(
    (Array.isArray(errors) ? errors : []).flatMap(({ recipient, response }) => {
      const answer = readAnswer("RCPT", response)
      return answer === undefined ? [] : [[String(recipient), answer] as const]
    }),
  )

const readFault = (error: unknown): MailFault => {
  const { code, command, originalCode, rejectedErrors, response } = Object(error)
  const rejected = rejectionsOf(rejectedErrors)
  // nodemailer puts its own code before that of Node.js.
  const known = [originalCode, code].find((one) => typeof one === "string")
  return { answer: readAnswer(command, response), code: known, ...(rejected.size > 0 && { rejected }) }
}

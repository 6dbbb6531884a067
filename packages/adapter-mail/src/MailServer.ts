import { MOST_READ } from "@tocsin/contract/integrations/Mails"
import { Duration, Effect, Fiber, Schedule, Schema } from "effect"
import {
  SMTPServer,
  type SMTPServerDataStream,
  type SMTPServerOptions,
  type SMTPServerSession,
} from "smtp-server"
import * as replies from "./replies.ts"
import type { Reply } from "./replies.ts"
import { type Calls, makeCalls } from "./mailCalls.ts"
import { statSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createSecureContext } from "node:tls"

const LOOKS_AT_FILES = Schedule.spaced(Duration.seconds(30))

/** PEM files of a certificate and its key. */
interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** The listener for mails cannot start. */
class MailServerError extends Schema.TaggedError<MailServerError>()("MailServerError", {
  message: Schema.String,
}) {}

const fileTimes = ({ cert, key }: TlsFiles): string =>
  [cert, key].map((file) => String(statSync(file).mtimeMs)).join()

/** Reads a certificate and its key. */
const readPem = ({ cert, key }: TlsFiles) =>
  Effect.tryPromise({
    try: async () => {
      const pem = { cert: await readFile(cert), key: await readFile(key), times: fileTimes({ cert, key }) }
      // Bad ones throw here, and not at the first client.
      createSecureContext({ cert: pem.cert, key: pem.key })
      return pem
    },
    catch: (cause) =>
      new MailServerError({
        message: `SERVICE_MAIL_TLS_CERT and SERVICE_MAIL_TLS_KEY must name readable PEM files that belong together (${cause instanceof Error ? cause.message : "unreadable"})`,
      }),
  })

/** Offers a certificate whose files have changed. */
const followFiles = (server: SMTPServer, tls: TlsFiles, first: string) => {
  let times = first
  const follow = Effect.gen(function* () {
    if (fileTimes(tls) === times) return
    const next = yield* readPem(tls)
    times = next.times
    server.updateSecureContext({ cert: next.cert, key: next.key })
  })
  const warned = Effect.catchCause(follow, (cause) =>
    Effect.logWarning("the listener for mails keeps its former certificate", cause),
  )
  return Effect.repeat(warned, LOOKS_AT_FILES)
}

/** The size of a mail that is offered. */
const MOST_BYTES = 10_485_760
const MOST_CONNECTIONS = 100
const IDLE_FOR = Duration.minutes(5)
const CONNECTED_FOR = Duration.minutes(10)
/** Mails that arrive when the server stops have this long. */
const STOPS_WITHIN = Duration.seconds(5)

export interface MailServerOptions {
  readonly host: string
  /** 0 for one that the system chooses. */
  readonly port: number
  /** By which it greets. */
  readonly name: string
  readonly protocol: "smtp" | "lmtp"
  /** PEM files; with them, STARTTLS is offered. */
  readonly tls?: TlsFiles | undefined
}

class Refused extends Error {
  readonly responseCode: number

  constructor({ code, text }: Reply) {
    super(text)
    this.responseCode = code
  }
}

/** The first bytes of a mail, unless it is too large, or its client has gone before its end. */
const firstBytes = (stream: SMTPServerDataStream): Effect.Effect<Uint8Array | "gone" | "too_large"> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    let kept = 0
    stream.on("data", (chunk: Buffer) => {
      if (kept >= MOST_READ) return
      chunks.push(chunk.subarray(0, MOST_READ - kept))
      kept += chunk.length
    })
    stream.on("error", () => resume(Effect.succeed("gone")))
    stream.on("close", () => resume(Effect.succeed("gone")))
    stream.on("end", () => resume(Effect.succeed(stream.sizeExceeded ? "too_large" : Buffer.concat(chunks))))
  })

const DISABLED = ["AUTH", "XCLIENT", "XFORWARD", "WIZ", "SHELL", "KILL"]

type Run = (effect: Effect.Effect<void>) => Fiber.Fiber<void>

/** Ends the connection of a session, if it is still there. */
const endSession = (server: SMTPServer, session: SMTPServerSession, { code, text }: Reply): boolean => {
  const connection = Array.from(server.connections).find((each) => each.session === session)
  connection?.send(code, text)
  return connection !== undefined
}

const isTaken = ({ code }: Reply): boolean => code === replies.TAKEN.code

/** The calls of the library for each connection, recipient and mail. */
const handlers = (
  { connected, count, recipient, recipientsOf, take }: Calls,
  { isLmtp, run, server }: { readonly isLmtp: boolean; readonly run: Run; readonly server: () => SMTPServer },
): Pick<SMTPServerOptions, "onClose" | "onConnect" | "onData" | "onRcptTo"> => {
  const answer = (reply: Reply, callback: (error?: Error | null, text?: string) => void): void => {
    count(reply)
    // The library would say that a mail is queued.
    if (isTaken(reply)) callback(null, reply.text)
    else callback(new Refused(reply))
  }
  const endLong = (session: SMTPServerSession) =>
    Effect.sync(() => {
      if (endSession(server(), session, replies.TOO_LONG_CONNECTED)) count(replies.TOO_LONG_CONNECTED)
    })
  return {
    onConnect: (session, callback) => {
      const ending = run(Effect.andThen(Effect.sleep(CONNECTED_FOR), endLong(session)))
      connected.set(session, { ending, unknown: 0, hasNamedKnown: false, isBusy: false })
      callback()
    },
    onClose: (session) => {
      const connection = connected.get(session)
      if (connection !== undefined) run(Fiber.interrupt(connection.ending))
    },
    onRcptTo: ({ address }, session, callback) => {
      run(Effect.map(recipient(address, session), (reply) => answer(reply, callback)))
    },
    onData: (stream, session, callback) => {
      const connection = connected.get(session)
      if (connection !== undefined) connection.isBusy = true
      // Of a repeated recipient the library forgets one, and each has a reply of LMTP.
      if (isLmtp) session.envelope.rcptTo = recipientsOf(session).map(() => ({ address: "", args: false }))
      const taken = Effect.gen(function* () {
        const bytes = yield* firstBytes(stream)
        const all = typeof bytes === "string" ? [] : yield* take(bytes, session)
        if (connection !== undefined) connection.isBusy = false
        // Nobody hears the reply to a client that has gone.
        if (bytes === "gone") return callback(new Refused(replies.UNAVAILABLE))
        if (bytes === "too_large") return answer(replies.TOO_LARGE, callback)
        if (!isLmtp) return answer(replies.replyToAll(all), callback)
        all.forEach(count)
        callback(
          null,
          all.map((reply) => (isTaken(reply) ? reply.text : new Refused(reply))),
        )
      })
      run(taken)
    },
  }
}

/** Binds the address, and stops with the scope: mails that have arrived by then are stored. */
const bind = (server: SMTPServer, { host, port }: MailServerOptions, { connected }: Calls) =>
  Effect.acquireRelease(
    Effect.callback<void, MailServerError>((resume) => {
      const failed = ({ message }: Error): void => {
        const remedy = "set SERVICE_MAIL_HOST and SERVICE_MAIL_PORT to an address that Tocsin can listen on"
        resume(Effect.fail(new MailServerError({ message: `${message}; ${remedy}` })))
      }
      server.on("error", failed)
      server.listen(port, host, () => {
        server.off("error", failed)
        // Clients that break off concern nobody.
        server.on("error", () => {})
        resume(Effect.void)
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        for (const each of server.connections) {
          if (connected.get(each.session)?.isBusy === true) continue
          each.send(replies.SHUTS_DOWN.code, replies.SHUTS_DOWN.text)
        }
        server.close(() => resume(Effect.void))
      }),
  )

/** One connection too many ends the oldest that has named no known recipient. */
const makeRoom = (server: SMTPServer, { connected, count }: Calls): void => {
  if (server.connections.size <= MOST_CONNECTIONS) return
  for (const each of server.connections) {
    if (connected.get(each.session)?.hasNamedKnown === true) continue
    count(replies.MAKES_ROOM)
    return each.send(replies.MAKES_ROOM.code, replies.MAKES_ROOM.text)
  }
}

/** Listens for mails until the scope closes. */
export const listen = Effect.fnUntraced(function* (options: MailServerOptions) {
  const calls = yield* makeCalls
  const run = Effect.runForkWith(yield* Effect.context())
  const { tls } = options
  const pem = tls === undefined ? undefined : yield* readPem(tls)
  const isLmtp = options.protocol === "lmtp"
  const server: SMTPServer = new SMTPServer({
    name: options.name,
    lmtp: isLmtp,
    size: MOST_BYTES,
    hidePIPELINING: !isLmtp,
    hideENHANCEDSTATUSCODES: !isLmtp,
    hideSTARTTLS: pem === undefined,
    disabledCommands: pem === undefined ? [...DISABLED, "STARTTLS"] : DISABLED,
    ...(pem !== undefined && { cert: pem.cert, key: pem.key }),
    authOptional: true,
    disableReverseLookup: true,
    // Devices write addresses that are none, such as user.@example.org.
    lenientAddressParsing: true,
    socketTimeout: Duration.toMillis(IDLE_FOR),
    closeTimeout: Duration.toMillis(STOPS_WITHIN),
    logger: false,
    ...handlers(calls, { isLmtp, run, server: () => server }),
  })
  // The library adds the connection to its own before the next turn.
  server.server.on("connection", () => void setImmediate(() => makeRoom(server, calls)))
  yield* bind(server, options, calls)
  if (tls !== undefined && pem !== undefined) yield* Effect.forkScoped(followFiles(server, tls, pem.times))
  const address = server.server.address()
  return { port: typeof address === "object" && address !== null ? address.port : options.port }
})

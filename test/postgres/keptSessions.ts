import { connect, createServer, type Socket } from "node:net"
import { Effect, Redacted, type Scope } from "effect"
import { throughLoopback } from "./throughLoopback.ts"
import { makeSplitter, type Message } from "./throughProtocol.ts"

/** A session of the server, for one client after another. */
interface Session {
  readonly socket: Socket
  /** The messages that a client gets once it is known: settings of the server, the key of the session. */
  readonly welcome: Array<Buffer>
  /** Whether it waits for a statement, outside a transaction. */
  isIdle: boolean
  isCancelled: boolean
  receive: (message: Message) => void
  onClose: () => void
}

const CANCEL_REQUEST = 80_877_102
const AUTHENTICATED = Buffer.from("R\0\0\0\u0008\0\0\0\0", "latin1")
const DISCARD_ALL = Buffer.from("Q\0\0\0\u0010DISCARD ALL\0", "latin1")
const IDLE = "I".charCodeAt(0)

/**
 * Opens a way to the server of a URL that keeps sessions for later clients, as a pooler in session mode does; closed
 * with the scope. A new session costs the server 50 ms of processor time. Without TLS.
 */
export const keptSessions = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
): Effect.fn.Return<Redacted.Redacted, never, Scope.Scope> {
  const target = new URL(Redacted.value(url))
  const open = new Set<Socket>()
  const sessions = new Set<Session>()
  /** By the first message of their clients. */
  const kept = new Map<string, Array<Session>>()
  const toServer = () => {
    const socket = connect({ port: Number(target.port), host: target.hostname, noDelay: true })
    open.add(socket.on("error", () => socket.destroy()).on("close", () => open.delete(socket)))
    return socket
  }

  const keep = (session: Session, key: string) => {
    session.onClose = () => {}
    if (!session.isIdle || session.isCancelled) return void session.socket.destroy()
    let isDiscarded = false
    session.receive = ({ bytes, type }) => {
      if (type === "E") session.socket.destroy()
      if (type === "C") isDiscarded = bytes.includes("DISCARD ALL")
      if (type === "Z" && isDiscarded) kept.set(key, [...(kept.get(key) ?? []), session])
    }
    session.socket.write(DISCARD_ALL)
  }

  const begin = (first: Buffer): Session => {
    const session: Session = {
      socket: toServer(),
      welcome: [],
      isIdle: false,
      isCancelled: false,
      receive: () => {},
      onClose: () => {},
    }
    const messagesOf = makeSplitter(false)
    let isWelcomed = false
    session.socket.on("data", (chunk: Buffer) => {
      for (const message of messagesOf(chunk)) {
        const { bytes, type } = message
        if (!isWelcomed && (type === "S" || type === "K" || type === "Z")) session.welcome.push(bytes)
        if (type === "Z") {
          isWelcomed = true
          session.isIdle = bytes.at(-1) === IDLE
        }
        session.receive(message)
      }
    })
    sessions.add(session)
    session.socket.on("close", () => {
      sessions.delete(session)
      session.onClose()
    })
    session.socket.write(first)
    return session
  }

  /** Asks the server to cancel the statement of a session, which it may do too late for this one. */
  const cancel = (request: Buffer) => {
    const key = request.subarray(8)
    for (const session of sessions)
      session.isCancelled ||= session.welcome.some((bytes) => bytes.subarray(5).equals(key))
    toServer().end(request)
  }

  const server = createServer({ noDelay: true }, (client) => {
    open.add(client)
    const messagesOf = makeSplitter(true)
    let key = ""
    let session: Session | undefined
    const lend = (first: Buffer) => {
      key = first.toString("latin1")
      const found = kept.get(key)?.findLast(({ isCancelled, socket }) => socket.writable && !isCancelled)
      session = found ?? begin(first)
      session.receive = ({ bytes }) => void (client.writable && client.write(bytes))
      session.onClose = () => client.end()
      if (found === undefined) return
      kept.set(
        key,
        (kept.get(key) ?? []).filter((one) => one !== found && one.socket.writable),
      )
      client.write(Buffer.concat([AUTHENTICATED, ...found.welcome]))
    }
    client.on("data", (chunk: Buffer) => {
      for (const { bytes, type } of messagesOf(chunk)) {
        if (type === "" && bytes.readUInt32BE(4) === CANCEL_REQUEST) cancel(bytes)
        else if (type === "") lend(bytes)
        else if (type === "X" && session !== undefined) {
          keep(session, key)
          session = undefined
        } else if (session !== undefined) {
          session.isIdle = false
          session.socket.write(bytes)
        }
      }
    })
    client.on("error", () => client.destroy())
    client.on("close", () => {
      open.delete(client)
      session?.socket.destroy()
    })
  })
  return yield* throughLoopback(
    server,
    target,
    Effect.sync(() => {
      for (const socket of open) socket.destroy()
    }),
  )
})

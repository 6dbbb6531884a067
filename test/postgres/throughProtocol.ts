import { connect, createServer, type Socket } from "node:net"
import { Effect, Redacted, type Scope } from "effect"
import { throughLoopback } from "./throughLoopback.ts"

/** One message of PostgreSQL's protocol. */
export interface Message {
  /** The letter that it begins with; nothing for the first message of a client. */
  readonly type: string
  /** All of it. */
  readonly bytes: Buffer
}

/** A connection of a client through the proxy. */
export interface Connection {
  readonly toClient: (bytes: Buffer) => void
  readonly toServer: (bytes: Buffer) => void
  /** Closes it on both sides. The client gets these bytes first. */
  readonly cut: (last?: Buffer) => void
}

/** The substitute for each message of a connection. */
export interface Interceptor {
  readonly fromClient?: (message: Message) => ReadonlyArray<Buffer>
  readonly fromServer?: (message: Message) => ReadonlyArray<Buffer>
}

const HEADER_BYTES = 4

/** Splits what one side sends into messages. */
export const makeSplitter = (isClient: boolean) => {
  let pending = Buffer.alloc(0)
  let typeBytes = isClient ? 0 : 1
  return (chunk: Buffer): ReadonlyArray<Message> => {
    pending = Buffer.concat([pending, chunk])
    const messages: Array<Message> = []
    while (pending.length >= typeBytes + HEADER_BYTES) {
      const length = typeBytes + pending.readUInt32BE(typeBytes)
      if (pending.length < length) break
      const bytes = pending.subarray(0, length)
      messages.push({ type: typeBytes === 0 ? "" : String.fromCharCode(bytes[0] ?? 0), bytes })
      pending = pending.subarray(length)
      typeBytes = 1
    }
    return messages
  }
}

/**
 * Opens a way to the server of a URL on which messages can be changed, lost and repeated; closed with
 * the scope. Without TLS.
 */
export const throughProtocol = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  intercept: (connection: Connection) => Interceptor,
): Effect.fn.Return<Redacted.Redacted, never, Scope.Scope> {
  const target = new URL(Redacted.value(url))
  const clients = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, noDelay: true })
    clients.add(client)
    const cut = (last: Buffer = Buffer.alloc(0)) => {
      upstream.destroy()
      client.end(last)
    }
    const send = (to: Socket) => (bytes: Buffer) => void (to.writable && to.write(bytes))
    const connection = { toClient: send(client), toServer: send(upstream), cut }
    const { fromClient, fromServer } = intercept(connection)
    const pass = (from: Socket, to: Socket, change: Interceptor["fromServer"]) => {
      const messagesOf = makeSplitter(from === client)
      from.on("data", (chunk: Buffer) => {
        for (const message of messagesOf(chunk)) {
          for (const bytes of change?.(message) ?? [message.bytes]) send(to)(bytes)
        }
      })
      from.on("close", () => {
        clients.delete(client)
        cut()
      })
      from.on("error", () => cut())
    }
    pass(client, upstream, fromClient)
    pass(upstream, client, fromServer)
  })
  return yield* throughLoopback(
    server,
    target,
    Effect.sync(() => {
      for (const client of clients) client.destroy()
    }),
  )
})

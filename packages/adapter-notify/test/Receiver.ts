import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { Effect, Queue } from "effect"

/** One request as it arrived, whole. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
  /** Succeeds when the client is gone. */
  readonly closed: Effect.Effect<void>
}

/** A real receiver on loopback. */
export interface Receiver {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly port: number
  /** The next request; waits for one. */
  readonly requests: Queue.Dequeue<Received>
  readonly connections: () => number
}

/**
 * Starts a receiver that answers as `answer` does; it ends with the scope, whoever is still
 * connected.
 */
export const startReceiver = (answer: (response: ServerResponse, request: Received) => void) =>
  Effect.gen(function* () {
    const requests = yield* Queue.unbounded<Received>()
    let connections = 0
    const sockets = new Set<Socket>()
    const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () => {
        const received: Received = {
          method: incoming.method ?? "",
          path: incoming.url ?? "",
          headers: incoming.headers,
          body: Buffer.concat(chunks).toString("utf8"),
          closed: closeOf(incoming.socket),
        }
        Queue.offerUnsafe(requests, received)
        answer(response, received)
      })
    })
    server.on("connection", (socket) => {
      connections += 1
      sockets.add(socket)
      socket.on("error", () => {})
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.callback<void>((resume) => {
          for (const socket of sockets) socket.destroy()
          server.close(() => resume(Effect.void))
        }),
    )
    // A server that listens on TCP has such an address.
    const { port } = server.address() as AddressInfo
    const receiver: Receiver = {
      origin: `http://127.0.0.1:${port}`,
      port,
      requests,
      connections: () => connections,
    }
    return receiver
  })

const closeOf = (socket: Socket): Effect.Effect<void> =>
  Effect.callback((resume) => {
    socket.on("close", () => resume(Effect.void))
    if (socket.closed) resume(Effect.void)
  })

/** Answers each request with a status, headers and a body. */
export const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = "") =>
  (response: ServerResponse): void => {
    response.writeHead(status, headers).end(body)
  }

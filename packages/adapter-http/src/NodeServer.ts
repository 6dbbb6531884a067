import { type IncomingMessage, Server, type ServerOptions, ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Duration, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { nodeServices } from "./nodeServices.ts"
import { readInParts, pipelining, latestAnswer, UnreadAnswers } from "./response/pipelining.ts"
import type { AgentFront, Behind } from "./fastpath/AgentFront.ts"

/** Limits on slow clients (docs/rules.md#slow-clients). */
const HEADERS_TIMEOUT_MILLIS = 10_000
const REQUEST_TIMEOUT_MILLIS = 30_000
const CHECKING_INTERVAL_MILLIS = 1_000

/** Longer than the usual 60 s of proxies, which must be the first to close an idle connection. */
const KEEP_ALIVE_MILLIS = 65_000

/** How much longer a connection is kept than announced. */
const KEEP_ALIVE_GRACE_MILLIS = 1_000

/** How long requests may take at a shutdown: half of the 10 s that a service has to stop. */
const DRAIN_LIMIT = Duration.seconds(5)

/** How long a refused client may take to read its answer. */
const REFUSAL_GRACE_MILLIS = 1_000

/** No request arrived in time; the error of node:http for that. */
class SlowClient extends Error {
  readonly code = "ERR_HTTP_REQUEST_TIMEOUT"
}

/** By the codes of errors of node:http; others are 400. */
const STATUSES = new Map([
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
  ["HPE_HEADER_OVERFLOW", 431],
])

/** Answers an incomplete or malformed request with an id and no body, and closes (docs/rules.md#slow-clients). */
const refuse = (error: NodeJS.ErrnoException, socket: Duplex, requestId: string): void => {
  const status = STATUSES.get(error.code ?? "") ?? 400
  end(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nX-Request-Id: ${requestId}\r\n` +
      "Connection: close\r\nContent-Length: 0\r\n\r\n",
  )
}

/** Ends a connection once its client has read what is written to it. */
const end = (socket: Duplex, last = ""): void => {
  socket.end(last)
  setTimeout(() => socket.destroy(), REFUSAL_GRACE_MILLIS).unref()
}

/** Node's error code for a connection that ends within a request. */
const ENDED_EARLY = "HPE_INVALID_EOF_STATE"

/** Whether its refusal waits for that answer: each further part of malformed bytes is an error, too. */
const IS_WAITING: unique symbol = Symbol("isWaiting")
interface Connection extends Duplex {
  [IS_WAITING]?: boolean
}

/** Refuses malformed bytes once the whole requests before them have their answers (RFC 9112, 9.3.2). */
const refuseAfter = (
  answer: ServerResponse,
  error: NodeJS.ErrnoException,
  socket: Connection,
  newRequestId: () => string,
): void => {
  if (socket[IS_WAITING] === true) return
  socket[IS_WAITING] = true
  if (answer.req.complete) answer.once("finish", () => refuse(error, socket, newRequestId()))
  else
    answer.once("socket", () => {
      // It was answered before its end.
      if (answer.headersSent) answer.once("finish", () => end(socket))
      else refuse(error, socket, newRequestId())
    })
}

/** Turns of the event loop without an arrival: a connection is accepted in one and read in the next. */
const QUIET_TURNS = 4

/** A limit, because under load something always arrives. */
const MOST_MILLIS = 1_000

/** Notes arrivals at a server, so that it reads what has arrived before it stops. */
class Arrivals {
  #count = 0

  note(): void {
    this.#count += 1
  }

  /** Calls back once some turns of the event loop bring no arrival, or a second has passed. */
  settle(onSettled: () => void): void {
    const deadline = performance.now() + MOST_MILLIS
    let seen = this.#count
    let quiet = 0
    const look = (): void => {
      quiet = seen === this.#count ? quiet + 1 : 0
      seen = this.#count
      if (quiet === QUIET_TURNS || performance.now() > deadline) onSettled()
      else setImmediate(look)
    }
    setImmediate(look)
  }
}

/** A server of node:http whose front takes each connection first, until it hands it over. */
class FrontedServer extends Server {
  readonly #front: AgentFront
  readonly #behind: Behind
  readonly #arrivals = new Arrivals()
  readonly #unreadAnswers = new UnreadAnswers()
  /** Requests that came while the routes were still being built. */
  #early: Array<readonly [IncomingMessage, ServerResponse]> = []

  constructor(options: ServerOptions, front: AgentFront) {
    super(options)
    this.#front = front
    this.#behind = {
      onArrival: () => this.#arrivals.note(),
      firstMillis: () => this.headersTimeout,
      // As node:http, a little longer than announced, for requests that are on their way.
      idleMillis: KEEP_ALIVE_MILLIS + KEEP_ALIVE_GRACE_MILLIS,
      keepAliveSeconds: KEEP_ALIVE_MILLIS / 1_000,
      handOver: (socket, remainingMillis) => {
        super.emit("connection", socket)
        readInParts(socket)
        if (remainingMillis !== undefined) this.#limitHead(socket, remainingMillis)
      },
      refuseSlow: (socket) => super.emit("clientError", new SlowClient(), socket),
    }
    this.on("newListener", (event) => {
      // Node emits this before it adds the listener.
      if (event === "request") setImmediate(() => this.#answerEarly())
    })
  }

  override emit(event: string, ...args: Array<unknown>): boolean {
    switch (event) {
      case "request":
      case "checkContinue":
        // The arguments that Node emits with them (http.Server).
        return this.#onRequest(event, ...(args as [IncomingMessage, ServerResponse]))
      case "connection":
        return this.#onConnection(args[0] as Socket)
      default:
        return super.emit(event, ...args)
    }
  }

  /** Stops listening once everything that has arrived is read: the system would reset the rest. */
  override close(callback?: (error?: Error) => void): this {
    this.#arrivals.settle(() => super.close(callback))
    return this
  }

  /** Closes idle connections once everything that has arrived is read. */
  override closeIdleConnections(): void {
    this.#arrivals.settle(() => {
      this.#front.closeIdle()
      super.closeIdleConnections()
    })
  }

  override closeAllConnections(): void {
    this.#front.closeAll()
    super.closeAllConnections()
  }

  #onConnection(socket: Socket): boolean {
    this.#arrivals.note()
    // Its requests would have no address, which the limits of addresses need. Node keeps one that is known.
    if (socket.remoteAddress === undefined) socket.destroy()
    else this.#front.take(socket, this.#behind)
    return true
  }

  /** Limits the time to the first request, which node:http would count from the handover. */
  #limitHead(socket: Connection, millis: number): void {
    const timer = setTimeout(() => {
      if (latestAnswer(socket) === undefined) super.emit("clientError", new SlowClient(), socket)
    }, millis)
    socket.once("close", () => clearTimeout(timer))
  }

  #onRequest(event: string, message: IncomingMessage, response: ServerResponse): boolean {
    this.#arrivals.note()
    this.#unreadAnswers.watch(response)
    pipelining(message.socket, response, () => {
      if (this.listenerCount(event) > 0) super.emit(event, message, response)
      else this.#early.push([message, response])
    })
    return true
  }

  #answerEarly(): void {
    const early = this.#early
    this.#early = []
    for (const [message, response] of early) super.emit("request", message, response)
  }
}

const listeningServer = (front: AgentFront, newRequestId: () => string): Server => {
  const server = new FrontedServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MILLIS,
      requestTimeout: REQUEST_TIMEOUT_MILLIS,
      connectionsCheckingInterval: CHECKING_INTERVAL_MILLIS,
      keepAliveTimeout: KEEP_ALIVE_MILLIS,
      // Node's own refusal would not name the request; responseMiddleware refuses it instead.
      requireHostHeader: false,
      // There is no protocol to upgrade to: answer such a request like any other (RFC 9110, 7.8).
      shouldUpgradeCallback: () => false,
    },
    front,
  )
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Connection) => {
    const answer = latestAnswer(socket)
    const isOpen = answer !== undefined && !answer.writableFinished
    // A request may wait for the answer to an earlier one on its connection.
    const isBehind = isOpen && answer.socket === null
    if (!socket.writable || error.code === "ECONNRESET") socket.destroy()
    else if (isOpen && error.code === ENDED_EARLY && (isBehind || answer.headersSent)) end(socket)
    else if (isOpen && (isBehind || answer.req.complete)) refuseAfter(answer, error, socket, newRequestId)
    // The written part of the answer still goes out.
    else if (isOpen && answer.headersSent) end(socket)
    else refuse(error, socket, newRequestId())
  })
  // No path has the method CONNECT. Node would close the connection without an answer.
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.on("finish", () => socket.destroySoon())
    // Node no longer listens. "close" follows.
    socket.on("error", () => {})
    pipelining(socket, response, () => {
      response.assignSocket(socket)
      server.emit("request", request, response)
    })
  })
  // An unknown expectation is no reason to refuse a request (RFC 9110, 10.1.1).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  return server
}

export interface ListenOptions {
  readonly host: string
  /** 0 lets the system choose; the HttpServer service has the port. */
  readonly port: number
}

/**
 * A node:http server behind a front. When its scope closes, it stops accepting, closes idle
 * connections, gives requests 5 s to finish, then closes the rest.
 */
export const layer = <E, R>({ host, port }: ListenOptions, front: Effect.Effect<AgentFront, E, R>) =>
  Layer.effect(
    HttpServer.HttpServer,
    Effect.gen(function* () {
      const ids = yield* Ids
      const run = Effect.runSyncWith(yield* Effect.context())
      const server = listeningServer(yield* front, () => ids.uuidV7(run(Instant.now)))
      const http = yield* NodeHttpServer.make(() => server, {
        host,
        port,
        gracefulShutdownTimeout: DRAIN_LIMIT,
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
      return http
    }),
  ).pipe(Layer.merge(nodeServices))

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** How a receiver answers: with a status and perhaps Retry-After, or never. */
export type Manner = { readonly status: number; readonly retryAfter?: number } | "silent"

/** Stands in its address, where the credentials of many receivers are. */
export const SECRET_PATH = "c2VjcmV0IHBhdGg"

/** A receiver of notifications on this machine, which a test steers. */
export class HttpReceiver {
  readonly #server: Server
  /** How it answers from now on. */
  manner: Manner = { status: 200 }
  /** How many requests came. */
  requests = 0
  /** How many clients gave up waiting. */
  abandoned = 0

  private constructor() {
    this.#server = createServer((request, response) => this.#receive(request, response))
  }

  /** Starts one on a free port. */
  static async start(): Promise<HttpReceiver> {
    const receiver = new HttpReceiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve))
    return receiver
  }

  /** Where it listens. */
  get address(): string {
    // A server that listens on a port has this form of address.
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}/${SECRET_PATH}`
  }

  /** Stops listening; connections end at once. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    this.requests += 1
    const { manner } = this
    response.on("close", () => {
      if (!response.writableFinished) this.abandoned += 1
    })
    request.resume()
    if (manner === "silent") return
    request.on("end", () => {
      if (manner.retryAfter !== undefined) response.setHeader("retry-after", manner.retryAfter)
      response.writeHead(manner.status).end()
    })
  }
}

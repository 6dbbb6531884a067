import { createServer, type Server } from "node:http"

const SLOWEST_REQUEST_MILLIS = 5_000

/** Answers `GET /metrics` on the loopback address. */
export class MetricsServer {
  readonly #page: () => string
  readonly #log: (message: string) => void
  #server: Server | undefined
  #port: number | undefined

  constructor(page: () => string, log: (message: string) => void) {
    this.#page = page
    this.#log = log
  }

  /** Listens on this port, or on none. A port that cannot be had is reported and stops nothing. */
  listen(port: number | undefined): void {
    if (port === this.#port) return
    this.close()
    this.#port = port
    if (port === undefined) return
    const server = createServer((request, response) => {
      if (request.url !== "/metrics") return void response.writeHead(404).end("see /metrics\n")
      if (!["GET", "HEAD"].includes(request.method ?? "")) return void response.writeHead(405).end()
      response
        .writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" })
        .end(this.#page())
    })
    server.requestTimeout = SLOWEST_REQUEST_MILLIS
    server.on("error", ({ message }) => {
      this.#log(`cannot serve metrics on port ${port}: set metrics_port to a free one (${message})`)
      // The next reload tries again.
      if (this.#server === server) this.#port = undefined
    })
    server.listen(port, "127.0.0.1")
    this.#server = server
  }

  close(): void {
    this.#server?.closeAllConnections()
    this.#server?.close()
    this.#server = undefined
    this.#port = undefined
  }
}

import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib"

/** The body of an answer: a text, or what is sent as JSON. */
type Body = string | object

/** Bodies of answers with status 200, by the outcome that they state. */
export interface Answers {
  /** To what the receiver takes; no body unless given. */
  readonly delivered?: Body
  /** The notifier must try again later. */
  readonly deferred?: Body
  /** The notifier must not try again. */
  readonly refused?: Body
}

/** How a receiver answers: with a status, which a `failure` in the body belies, never, or by closing the connection. */
export type Manner =
  | {
      readonly status: number
      readonly retryAfter?: number
      readonly location?: string
      readonly failure?: Body
    }
  | "silent"
  | "cut"

/** A request that reached the receiver. */
export interface Received {
  readonly url: string
  /** Headers that the sender chose. */
  readonly headers: string
  readonly body: string
  /** Whether the receiver took it. */
  readonly isTaken: boolean
}

/** A part of the address, where many receivers have a credential. */
export const SECRET_PATH = "c2VjcmV0IHBhdGg"
/** The receiver's own words, in its answers and in addresses that it redirects to. */
export const RECEIVERS_TEXT = "no-such-room-at-the-receiver"

/** Headers of the connection, and of the library that sends. */
const NOT_CHOSEN =
  /^(?:accept|accept-.*|cache-control|connection|content-length|content-encoding|date|host|keep-alive|pragma|sec-.*|te|traceparent|tracestate|transfer-encoding|upgrade|user-agent|.*-timestamp|b3|x-b3-.*)$/

const decompress: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const body = await buffer(request)
  return (decompress[request.headers["content-encoding"] ?? ""]?.(body) ?? body).toString()
}

/** A receiver on this machine, which records what it gets. */
export class HttpReceiver {
  manner: Manner = { status: 200 }
  readonly requests: Array<Received> = []
  /** How many clients closed their connection before the answer. */
  abandoned = 0
  address = ""
  readonly #delivered: Body
  readonly #server = createServer((request, response) => {
    const { manner } = this
    response.on("close", () => {
      if (!response.writableFinished) this.abandoned += 1
    })
    void bodyOf(request).then(
      (body) => {
        const isTaken =
          typeof manner === "object" &&
          manner.status >= 200 &&
          manner.status < 300 &&
          manner.failure === undefined
        this.#record(request, body, isTaken)
        if (manner === "cut") response.destroy()
        if (typeof manner === "string") return
        if (manner.retryAfter !== undefined) response.setHeader("retry-after", manner.retryAfter)
        if (manner.location !== undefined) response.setHeader("location", `/${manner.location}`)
        const answer = isTaken ? this.#delivered : (manner.failure ?? RECEIVERS_TEXT)
        const isText = typeof answer === "string"
        response.setHeader("content-type", isText ? "text/plain" : "application/json")
        response.writeHead(manner.status).end(isText ? answer : JSON.stringify(answer))
      },
      () => {},
    )
  })

  constructor(delivered: Body = "") {
    this.#delivered = delivered
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    // A server that listens on a port has this form of address.
    const { port } = this.#server.address() as AddressInfo
    this.address = `http://127.0.0.1:${port}/${SECRET_PATH}`
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }

  #record({ method = "", url = "", headers }: IncomingMessage, body: string, isTaken: boolean): void {
    const chosen = Object.entries(headers).filter(([name]) => !NOT_CHOSEN.test(name))
    const lines = chosen.map(([name, value]) => `${name}: ${value}`).toSorted()
    this.requests.push({ url: `${method} ${url}`, headers: lines.join("\n"), body, isTaken })
  }
}

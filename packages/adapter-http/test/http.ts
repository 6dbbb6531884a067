import { type IncomingHttpHeaders, request } from "node:http"
import { connect, type Socket } from "node:net"
import { Effect, Schema } from "effect"
import { port, UI_TOKEN } from "./TestServer.ts"

/** A request of an API client; a body of several parts goes chunked, without a length. */
export interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | ReadonlyArray<Uint8Array>
}

/** The answer to it. */
export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The headers that an agent or an operator authenticates with. */
export const agent = { authorization: "Bearer agent-key" }
export const operator = { authorization: `Bearer ${UI_TOKEN}` }

/** Sends a request over a connection of its own to the server of this test. */
export const send = Effect.fnUntraced(function* (method: string, path: string, sent: Sent = {}) {
  const to = yield* port
  return yield* Effect.callback<Received, Error>((resume) => {
    const outgoing = request(
      { host: "127.0.0.1", port: to, method, path, headers: { connection: "close", ...sent.headers } },
      (incoming) => {
        const parts: Array<Buffer> = []
        incoming.on("data", (part: Buffer) => parts.push(part))
        incoming.on("end", () => {
          const body = Buffer.concat(parts).toString()
          resume(Effect.succeed({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }))
        })
      },
    )
    // Also when the server closes on what is still being sent: the first outcome counts.
    outgoing.on("error", (error) => resume(Effect.fail(error)))
    if (Array.isArray(sent.body)) for (const part of sent.body) outgoing.write(part)
    outgoing.end(typeof sent.body === "string" || sent.body instanceof Uint8Array ? sent.body : undefined)
  })
})

/** Writes bytes on a connection of its own, and reads what comes until the server closes it. */
export const exchange = Effect.fnUntraced(function* (write: (socket: Socket) => void) {
  const to = yield* port
  return yield* Effect.callback<string>((resume) => {
    const socket = connect(to, "127.0.0.1", () => write(socket))
    let received = ""
    socket.on("data", (part: Buffer) => {
      received += part.toString("latin1")
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(received)))
    return Effect.sync(() => socket.destroy())
  })
})

const ErrorBody = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.Struct({ code: Schema.String, message: Schema.String, request_id: Schema.String }),
  }),
)

/** The error of a response's body. */
export const errorOf = (received: Received) => Schema.decodeUnknownSync(ErrorBody)(received.body).error

/** A heartbeat that fits the contract, as JSON holds it. */
export const heartbeat = {
  agent_id: "web-01",
  observed_at: "2026-01-31T08:30:00Z",
  hostname: "web-01.example.org",
  features: { push: true, metrics: false },
}

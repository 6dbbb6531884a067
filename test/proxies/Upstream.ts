import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, type Scope } from "effect"

/** A server in place of Tocsin that records its requests. */
export interface Upstream {
  readonly port: number
  readonly requests: Array<{
    readonly url: string
    readonly headers: IncomingHttpHeaders
    readonly bytes: number
  }>
  readonly connections: () => number
}

/** How much `/large` answers: more than any buffer of a proxy. */
export const LARGE_BYTES = 6 * 1024 * 1024

/** Answers everything with 200, `/large` with {@link LARGE_BYTES}. */
export const startUpstream: Effect.Effect<Upstream, never, Scope.Scope> = Effect.acquireRelease(
  Effect.callback<Upstream & { readonly close: () => void }>((resume) => {
    const requests: Upstream["requests"] = []
    let connections = 0
    const server = createServer({ keepAliveTimeout: 65_000 }, (incoming, response) => {
      let bytes = 0
      incoming.on("data", (part: Buffer) => (bytes += part.length))
      incoming.on("end", () => {
        requests.push({ url: incoming.url ?? "", headers: incoming.headers, bytes })
        response.end(incoming.url === "/large" ? Buffer.alloc(LARGE_BYTES, "x") : "here")
      })
    })
    server.on("connection", () => (connections += 1))
    server.listen(0, "127.0.0.1", () => {
      // A server that listens on TCP has such an address.
      const { port } = server.address() as AddressInfo
      const close = () => {
        server.closeAllConnections()
        server.close()
      }
      resume(Effect.succeed({ port, requests, connections: () => connections, close }))
    })
  }),
  ({ close }) => Effect.sync(close),
)

import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import type { AgentRequest, FaultyServer } from "./FaultyServer.ts"

/** A server on a free port of this machine. */
export interface ServedFaults {
  readonly address: string
  /** The values of `Authorization`, each once. */
  readonly keys: ReadonlySet<string>
  readonly close: () => Promise<void>
}

const kindOf = (path: string): AgentRequest["kind"] | undefined => {
  if (path === "/api/v1/heartbeat") return "heartbeat"
  if (path === "/api/v1/events") return "events"
  return /^\/ops\/v1\/agents\/[^/]+\/expectations$/.test(path) ? "declaration" : undefined
}

/** Serves a {@link FaultyServer} over HTTP. A request without an answer loses its connection. */
export const serve = async (server: FaultyServer): Promise<ServedFaults> => {
  const keys = new Set<string>()
  const listener = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const kind = kindOf(request.url ?? "")
      if (kind === undefined) return void response.writeHead(404).end()
      keys.add(request.headers.authorization ?? "")
      server.send({ kind, body: Buffer.concat(chunks).toString() }).then(
        ({ status, body, retryAfter, date }) => {
          if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter)
          if (date !== undefined) response.setHeader("date", date)
          response.writeHead(status, { "content-type": "application/json" }).end(body)
        },
        () => response.destroy(),
      )
    })
  })
  listener.listen(0, "127.0.0.1")
  await once(listener, "listening")
  // It is bound to a port, as was asked for.
  const { port } = listener.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    keys,
    close: async () => {
      listener.closeAllConnections()
      listener.close()
      await once(listener, "close")
    },
  }
}

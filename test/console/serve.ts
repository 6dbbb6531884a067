import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** Serves HTTP at a port of this machine until the scope ends. Returns the origin. */
export const serve = (listener: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer(listener)
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        return server
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        }),
    ),
    // A server that listens on TCP has such an address.
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  )

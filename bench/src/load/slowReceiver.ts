import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** A receiver of webhooks that takes this long for each, until the scope closes. Returns its address. */
export const slowReceiver = (millis: number) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer((request, response) => {
            request.resume()
            setTimeout(() => response.writeHead(204).end(), millis)
          }).listen(0, "127.0.0.1", () => resolve(server))
        }),
    ),
    (server) =>
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            server.close(() => resolve())
            server.closeAllConnections()
          }),
      ),
  ).pipe(
    Effect.map((server) => {
      // It listens on TCP.
      const { port } = server.address() as AddressInfo
      return `http://127.0.0.1:${port}/`
    }),
  )

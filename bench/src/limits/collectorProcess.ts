/** A collector of OTLP over HTTP that takes everything and keeps nothing. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { answerCommands } from "../processes/answerCommands.ts"

answerCommands<object, number>(
  () =>
    new Promise((resolve, reject) => {
      const server = createServer((request, response) => {
        request.resume()
        request.on("end", () => response.writeHead(200).end())
      })
      server.on("error", reject)
      // It listens on TCP.
      server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
    }),
)

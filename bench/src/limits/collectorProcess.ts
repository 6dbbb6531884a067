/** A collector of OTLP over HTTP that takes everything and keeps nothing but the number of its bytes. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { answerCommands } from "../processes/answerCommands.ts"

/** The collector's count so far. */
export interface Collected {
  readonly port: number
  readonly bytes: number
}

let bytes = 0

const listening = new Promise<number>((resolve, reject) => {
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => (bytes += chunk.length))
    request.on("end", () => response.writeHead(200).end())
  })
  server.on("error", reject)
  // It listens on TCP.
  server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
})

answerCommands<object, Collected>(async () => ({ port: await listening, bytes }))

/** A receiver of webhooks that answers each after a fixed time. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { answerCommands } from "../processes/answerCommands.ts"
import type { ReceiverCommand, ReceiverReply } from "./Receiver.ts"

const received = new Set<string>()
let millis = 0

const server = createServer((request, response) => {
  received.add(String(request.headers["webhook-id"]))
  request.resume()
  const answer = () => response.writeHead(204).end()
  if (millis > 0) setTimeout(answer, millis)
  else answer()
})

const listening = new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))

answerCommands<ReceiverCommand, ReceiverReply>(async (command) => {
  millis = command.answersAfterMillis
  await listening
  // It listens on TCP.
  const { port } = server.address() as AddressInfo
  return { port, received: received.size }
})

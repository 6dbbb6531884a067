import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer } from "node:net"
import { httpTransport } from "../../src/sending/httpTransport.ts"

const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
const REQUEST = { kind: "heartbeat", agentId: "a", key: "key", body: "{}" } as const

describe("the transport", () => {
  it("settles where a program in between switches protocols, and sends the next request", async () => {
    const answers = [SWITCHING, "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}"]
    const listener = createServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.end(answers.shift() ?? ""))
    })
    await once(listener.listen(0, "127.0.0.1"), "listening")
    const address = listener.address()
    const port = typeof address === "object" ? address?.port : 0
    const transport = httpTransport({})
    const send = () => transport.send({ ...REQUEST, server: `http://127.0.0.1:${port}` })
    const refused = await send().catch((error: unknown) => String(error))
    assert.strictEqual(refused, "Error: the connection was closed without an answer")
    assert.strictEqual((await send()).status, 202)
    transport.close()
    listener.close()
  })
})

import { assert, describe, it, vi } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { createServer, type Server, type Socket } from "node:net"
import { createServer as createTls } from "node:tls"
import { httpTransport } from "../../src/sending/httpTransport.ts"
import { lacking } from "../../../../scripts/programs.mjs"

const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
const REQUEST = { kind: "heartbeat", agentId: "a", key: "key", body: "{}" } as const

const CERTIFIER = "openssl"
const withoutOpenssl = lacking("openssl")
const unless = withoutOpenssl === undefined ? "" : ` (skipped: ${withoutOpenssl})`

const BEGUN = "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n"

/** How a request ends at a server that treats each connection in this way once a request came. */
const endAt = async (treat: (socket: Socket) => void, scheme = "http"): Promise<string> => {
  const listener = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => treat(socket))
  })
  const transport = httpTransport({})
  const server = `${scheme}://127.0.0.1:${await portOf(listener)}`
  const end = await transport.send({ ...REQUEST, server }).then(({ body }) => body, String)
  transport.close()
  listener.close()
  return end
}

/** Where a server listens, once it does. */
const portOf = async (server: Server): Promise<number> => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  return typeof address === "object" ? (address?.port ?? 0) : 0
}

describe("the transport", () => {
  it.skipIf(withoutOpenssl !== undefined)(
    `names the setting that makes a certificate trusted${unless}`,
    async () => {
      const args =
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=a -keyout - -out -"
      const pem = execFileSync(CERTIFIER, args.split(" "), { stdio: ["ignore", "pipe", "ignore"] })
      const listener = createTls({ key: pem, cert: pem })
      const transport = httpTransport({})
      const server = `https://127.0.0.1:${await portOf(listener)}`
      const refused = await transport.send({ ...REQUEST, server }).catch((error: unknown) => String(error))
      assert.strictEqual(
        refused,
        "Error: no authority that the agent trusts has signed the certificate: name yours in ca_file (DEPTH_ZERO_SELF_SIGNED_CERT)",
      )
      transport.close()
      listener.close()
    },
  )

  it("says what happened to an answer that is cut, late or compressed", async () => {
    assert.strictEqual(await endAt((socket) => socket.end(`${BEGUN}\r\n{}`)), "{}")
    assert.strictEqual(
      await endAt((socket) => socket.end(`${BEGUN}\r\n{`)),
      "Error: the connection was closed within the answer",
    )
    assert.strictEqual(
      await endAt((socket) => socket.end(`${BEGUN}Content-Encoding: gzip\r\n\r\n\u001f`)),
      "Error: the answer is compressed (gzip): let no program in between compress answers",
    )
    const limit = new AbortController()
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(limit.signal)
    const end = await endAt(() => limit.abort())
    timeout.mockRestore()
    assert.strictEqual(end, "Error: it took longer than 15 s")
  })

  it("says what answers at a wrong address", async () => {
    const moved = "HTTP/1.1 301 Moved\r\nLocation: https://a/api?token=b\r\nContent-Length: 6\r\n\r\n<html>"
    assert.strictEqual(
      await endAt((socket) => socket.end(moved)),
      "redirects to https://a/api: correct server in the configuration",
    )
    assert.match(
      await endAt((socket) => socket.end("SSH-2.0\r\n")),
      /^Error: the answer is not HTTP: it begins with "SSH-2.0"/,
    )
    assert.match(await endAt((socket) => socket.end(moved), "https"), /^Error: the answer is not TLS \(/)
  })

  it("settles where a program in between switches protocols, and sends the next request", async () => {
    const answers = [SWITCHING, "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}"]
    const listener = createServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.end(answers.shift() ?? ""))
    })
    const port = await portOf(listener)
    const transport = httpTransport({})
    const send = () => transport.send({ ...REQUEST, server: `http://127.0.0.1:${port}` })
    const refused = await send().catch((error: unknown) => String(error))
    assert.strictEqual(refused, "Error: the connection was closed without an answer")
    assert.strictEqual((await send()).status, 202)
    transport.close()
    listener.close()
  })
})

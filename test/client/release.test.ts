import { once } from "node:events"
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { createClient } from "@tocsin/client"
import { assert, it } from "vitest"
import { releases } from "../release/releases.ts"

/** Answers that never end, and what the client makes of them. */
const answers: Readonly<Record<string, readonly [code: string, (response: ServerResponse) => void]>> = {
  "is never answered": ["timeout", () => {}],
  "is never answered in full": ["timeout", (response) => begin(response, {})],
  "is answered with too much": [
    "unexpected_answer",
    (response) => begin(response, { "content-length": 20 * 2 ** 20 }),
  ],
}
const begin = (response: ServerResponse, fields: OutgoingHttpHeaders): void => {
  response.writeHead(200, { "content-type": "application/json", ...fields }).write('{"items":[')
}

it("a client releases the connection of each call that ends early", () =>
  releases(async () => {
    let answer: (response: ServerResponse) => void = () => {}
    const server = createServer((_request, response) => answer(response)).listen(0, "127.0.0.1")
    await once(server, "listening")
    // It listens on TCP.
    const { port } = server.address() as AddressInfo
    const client = createClient({
      baseUrl: `http://127.0.0.1:${port}`,
      token: "a",
      timeout: 100,
      retries: false,
    })
    const uses = Object.fromEntries(
      Object.entries(answers).map(([name, [code, never]]) => [
        `a call that ${name}`,
        async () => {
          answer = never
          const error: unknown = await client.agents.list().catch((reason: unknown) => reason)
          assert.propertyVal(error, "code", code)
        },
      ]),
    )
    const end = async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
    return { open: async () => ({ uses, close: async () => {} }), end }
  }))

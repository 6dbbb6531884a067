import { createServer, type IncomingMessage } from "node:http"
import { connect } from "node:net"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { parseHead } from "../../src/fastpath/agentMessages.ts"

const USUAL = [
  "POST /api/v1/heartbeat HTTP/1.1",
  "Host: tocsin:8080",
  "Authorization: Bearer agent-key",
  "X-Request-Id: \t mine \t",
  "Connection: Keep-Alive",
  "Content-Length: 12",
]

const hasHead = (...lines: ReadonlyArray<string>): boolean => parseHead(lines.join("\r\n")) !== undefined

it("a usual head is understood", () => {
  assert.deepStrictEqual(parseHead(USUAL.join("\r\n")), {
    to: "heartbeat",
    method: "POST",
    url: "/api/v1/heartbeat",
    headers: {
      host: "tocsin:8080",
      authorization: "Bearer agent-key",
      "x-request-id": "mine",
      connection: "Keep-Alive",
      "content-length": "12",
    },
    bodyLength: 12,
  })
})

it("a head that another parser could understand differently is left to node:http", () => {
  for (const line of [
    "Host: another",
    "content-length: 12",
    "Connection: keep-alive",
    "X-Request-Id: another",
    "Content-Encoding: identity",
    "Transfer-Encoding: chunked",
    "Expect: 100-continue",
    "Upgrade: h2c",
    "TE: trailers",
    "Trailer: X-A",
    "Origin: https://example.org",
    "Keep-Alive: timeout=5",
    "Proxy-Connection: close",
    "X-A : b",
    " X-A: b",
    "X-A",
    ": b",
    "",
    "X-A: b\rX-B: c",
    "X-A: b\nX-B: c",
    "X-A: \0",
    "X-A: \x0b",
    "X-A: \x7f",
    "X-A: \xe9",
    "X\xe9: a",
  ])
    assert.isFalse(hasHead(...USUAL, line), JSON.stringify(line))
  for (const [from, to] of [
    [USUAL[0], "GET /api/v1/heartbeat HTTP/1.1"],
    [USUAL[0], "POST /api/v1/heartbeat HTTP/1.0"],
    [USUAL[0], "POST /api/v1/agents HTTP/1.1"],
    [USUAL[0], "POST /api/v1/heartbeats HTTP/1.1"],
    [USUAL[0], "POST  /api/v1/heartbeat HTTP/1.1"],
    [USUAL[0], "POST /api/v1/heartbeat?x=1 HTTP/1.1"],
    [USUAL[0], "POST http://tocsin/api/v1/heartbeat HTTP/1.1"],
    [USUAL[1], "X-Host: tocsin"],
    [USUAL[4], "Connection: close"],
    [USUAL[4], "Connection: keep-alive, upgrade"],
    [USUAL[5], "X-Length: 12"],
    [USUAL[5], "Content-Length: "],
    [USUAL[5], "Content-Length: +1"],
    [USUAL[5], "Content-Length: 1, 1"],
    [USUAL[5], "Content-Length: 0x1"],
    [USUAL[5], "Content-Length: 12345678"],
  ])
    assert.isFalse(hasHead(...USUAL.map((line) => (line === from ? (to ?? "") : line))), to)
})

const CHARACTERS = [..."aZ09-_:;,. \t\"'(){}[]/\\@=!#$%&*+^`|~?<>\r\n\0\x0b\x7f\x80\xe9\xff"]
const text = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 12 })
const name = fc.oneof(
  text,
  fc.constantFrom("X-A", "x-a", "Cookie", "Content-Type", "__proto__", "constructor"),
)
const field = fc.tuple(name, fc.constantFrom(":", ": ", ":\t", " :"), text).map((parts) => parts.join(""))
const lines = fc.array(
  fc.oneof({ weight: 2, arbitrary: field }, { weight: 1, arbitrary: fc.constant("X-B: b") }),
  {
    maxLength: 4,
  },
)

/** The way in which node:http parses these heads, each followed by an empty body. */
const parsedByNode = Effect.fnUntraced(function* (heads: ReadonlyArray<string>) {
  return yield* Effect.callback<ReadonlyArray<Pick<IncomingMessage, "method" | "url" | "headers">>>(
    (resume) => {
      const seen: Array<Pick<IncomingMessage, "method" | "url" | "headers">> = []
      const server = createServer(({ method, url, headers }, response) => {
        seen.push({ method, url, headers })
        response.end()
      }).listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const socket = connect(port, "127.0.0.1", () => {
          const bytes = [...heads, "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close"].map(
            (head) => `${head}\r\n\r\n`,
          )
          socket.end(bytes.join(""), "latin1")
        })
        socket.resume()
        socket.on("close", () => {
          server.close()
          resume(Effect.succeed(seen))
        })
      })
    },
  )
})

it.effect("node:http understands every head in the same way", () =>
  Effect.gen(function* () {
    const agent = ["POST /api/v1/events HTTP/1.1", "Host: a", "Content-Length: 0"]
    const heads = fc.sample(lines, 20_000).map((parts) => [...agent, ...parts].join("\r\n"))
    const understood = heads.flatMap((head) => {
      const parsed = parseHead(head)
      return parsed === undefined ? [] : [{ head, parsed }]
    })
    assert.isAbove(understood.length, 100)
    assert.isBelow(understood.length, heads.length - 100)
    const seen = yield* parsedByNode(understood.map(({ head }) => head))
    assert.strictEqual(seen.length, understood.length + 1)
    for (const [index, { parsed, head }] of understood.entries()) {
      const { method, url, headers } = parsed
      assert.deepEqual(
        { method, url, headers },
        { ...seen[index], headers: { ...seen[index]?.headers } },
        head,
      )
    }
  }),
)

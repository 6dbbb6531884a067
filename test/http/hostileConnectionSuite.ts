import type { Socket } from "node:net"
import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { StorageUnderTest } from "../storage/StorageUnderTest.ts"
import { call, operate } from "./call.ts"
import { exchange, type Received, requestText, statusesOf } from "./exchange.ts"
import { itemsOf } from "./itemsOf.ts"
import { nodeServer } from "./nodeServer.ts"
import { newToken } from "./Observatory.ts"
import { onStorage } from "./onStorage.ts"
import { acceptedAgent, event, heartbeatBody, newAgent } from "./TestAgent.ts"

/** What would be answered if a request ended earlier, or later, than the service thinks. */
const SMUGGLED = "GET /api/v1/smuggled HTTP/1.1\r\nHost: tocsin\r\n\r\n"

const post = (...headers: ReadonlyArray<string>): string =>
  [
    "POST /api/v1/heartbeat HTTP/1.1",
    "Host: tocsin",
    "Authorization: Bearer an-agent-key",
    ...headers,
    "",
    "",
  ].join("\r\n")

const chunked = (text: string): string => post("Transfer-Encoding: chunked") + text

const framings: ReadonlyArray<readonly [name: string, bytes: string]> = [
  ["a length and chunks", `${post("Content-Length: 4", "Transfer-Encoding: chunked")}0\r\n\r\n`],
  ["chunks and a length", `${post("Transfer-Encoding: chunked", "Content-Length: 4")}0\r\n\r\n`],
  ["two lengths", `${post("Content-Length: 2", "Content-Length: 4")}{}{}`],
  ["a length twice", `${post("Content-Length: 2", "Content-Length: 2")}{}`],
  ["a list of lengths", `${post("Content-Length: 2, 2")}{}`],
  ["a signed length", `${post("Content-Length: +2")}{}`],
  ["a negative length", `${post("Content-Length: -2")}{}`],
  ["a length in hex", `${post("Content-Length: 0x2")}{}`],
  ["a length with a fraction", `${post("Content-Length: 2.0")}{}`],
  ["two words for a length", `${post("Content-Length: 2 2")}{}`],
  ["a length beyond 64 bits", `${post("Content-Length: 99999999999999999999")}{}`],
  ["no length after its name", `${post("Content-Length: ")}{}`],
  ["an encoding that only resembles chunks", `${post("Transfer-Encoding: xchunked")}0\r\n\r\n`],
  ["chunks inside another encoding", `${post("Transfer-Encoding: chunked, gzip")}0\r\n\r\n`],
  ["chunks and then none", `${post("Transfer-Encoding: chunked", "Transfer-Encoding: identity")}0\r\n\r\n`],
  ["an encoding without chunks", `${post("Transfer-Encoding: identity")}0\r\n\r\n`],
  ["a space before the colon", `${post("Transfer-Encoding : chunked")}0\r\n\r\n`],
  ["a control character before chunked", `${post("Transfer-Encoding: \u000bchunked")}0\r\n\r\n`],
  ["a folded header", `${post("X-A: b", " Transfer-Encoding: chunked")}0\r\n\r\n`],
  ["a header without a colon", post("Nonsense")],
  ["a header without a name", post(": value")],
  ["NUL in a header", post("X-A: a\u0000b")],
  ["NUL in the name of a header", post("X\u0000A: b")],
  ["a bare CR in a header", post("X-A: a\rX-B: b")],
  ["a bare LF at the end of a header", "GET /api/v1/health HTTP/1.1\nHost: tocsin\n\n"],
  ["chunks whose size is no number", chunked("zz\r\n{}\r\n0\r\n\r\n")],
  ["chunks of a negative size", chunked("-2\r\n{}\r\n0\r\n\r\n")],
  ["chunks whose size is written 0x2", chunked("0x2\r\n{}\r\n0\r\n\r\n")],
  ["chunks beyond 64 bits", chunked("fffffffffffffffff\r\n{}\r\n0\r\n\r\n")],
  ["chunks longer than they say", chunked("1\r\n{}\r\n0\r\n\r\n")],
  ["chunks without an end of line", chunked("2\r\n{}0\r\n\r\n")],
  ["chunks that end their lines with LF", chunked("2\n{}\n0\n\n")],
  ["chunks without a size", chunked("\r\n{}\r\n0\r\n\r\n")],
  ["a method that is none", "NONSENSE /api/v1/health HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["a method in small letters", "get /api/v1/health HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["no path", "GET HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["a path with a space", "GET /api/v1/health now HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["a path with NUL", "GET /api/v1/health\u0000 HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["another protocol", "GET /api/v1/health FTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["another version", "GET /api/v1/health HTTP/3.0\r\nHost: tocsin\r\n\r\n"],
  ["the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["the beginning of TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
  ["nothing of HTTP", "hello\r\n\r\n"],
]

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"

/** Asserts that all that came is a refusal with this status, its id, and no body (decisions §1). */
const assertRefused = ({ text }: Received, status: number): void => {
  assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} [A-Za-z ]+\\r\\n`))
  assert.match(text, new RegExp(`\\r\\nX-Request-Id: ${UUID}\\r\\n`, "i"))
  assert.match(text, /\r\nConnection: close\r\n/i)
  // Nothing comes after the headers: neither a body nor another answer.
  assert.strictEqual(text.indexOf("\r\n\r\n"), text.length - 4, text)
}

const dribble = (socket: Socket, text: string): void => {
  let sent = 0
  const timer = setInterval(() => {
    if (socket.writable && sent < text.length) socket.write(text.charAt(sent++))
  }, 20)
  socket.on("close", () => clearInterval(timer))
}

/** Connections that are not what they should be (decisions §1). */
export const hostileConnectionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together, scenario } = onStorage(subject)
  const isWell = Effect.gen(function* () {
    assert.strictEqual((yield* call("GET", "/api/v1/health")).status, 200)
    assert.strictEqual((yield* operate("GET", "/api/v1/agents")).status, 200)
  })

  together("connections", (it) => {
    it.effect.each(framings)("%s is refused, with what follows it", ([, bytes]) =>
      Effect.gen(function* () {
        const received = yield* exchange(Buffer.from(bytes + SMUGGLED, "latin1"))
        assertRefused(received, 400)
        assert.isBelow(received.millis, 3_000)
        assert.deepStrictEqual(yield* itemsOf("/api/v1/agents"), [])
      }),
    )

    it.effect("headers of more than Node takes are refused", () =>
      Effect.gen(function* () {
        for (const bytes of [
          requestText(`GET /api/v1/health?${"x".repeat(20_000)}`),
          requestText("GET /api/v1/health", { "X-Long": "x".repeat(20_000) }),
          requestText(
            "GET /api/v1/health",
            Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`X-${n}`, "xxxxxxxx"])),
          ),
          requestText("GET /api/v1/health", { Authorization: `Bearer ${"x".repeat(20_000)}` }),
        ]) {
          assertRefused(yield* exchange(bytes + SMUGGLED), 431)
        }
      }),
    )

    it.effect("a request without a Host is refused in HTTP/1.1, and answered in HTTP/1.0", () =>
      Effect.gen(function* () {
        const refused = yield* exchange("GET /api/v1/health HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert.deepStrictEqual(statusesOf(refused), [400])
        const answered = yield* exchange("GET /api/v1/health HTTP/1.0\r\n\r\n")
        assert.deepStrictEqual(statusesOf(answered), [200])
      }),
    )

    it.effect("a request with two Hosts is refused (RFC 9112, 3.2)", () =>
      Effect.gen(function* () {
        for (const hosts of ["Host: tocsin\r\nHost: tocsin", "Host: tocsin\r\nHost: elsewhere"]) {
          const received = yield* exchange(
            `GET /api/v1/health HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`,
          )
          assert.deepStrictEqual(statusesOf(received), [400])
        }
      }),
    )

    it.effect("what is malformed does not take the answer of the whole request before it", () =>
      Effect.gen(function* () {
        const { agent_id, key } = newAgent()
        const body = JSON.stringify(heartbeatBody({ agent_id, key }))
        const headers = {
          Authorization: `Bearer ${key}`,
          "Content-Length": String(body.length),
          "X-Request-Id": "whole",
        }
        const received = yield* exchange(
          `${requestText("POST /api/v1/heartbeat", headers, body)}nonsense\r\n\r\n`,
        )
        assert.strictEqual(statusesOf(received)[0], 202)
        assert.match(received.text, /x-request-id: whole\r\n/i)
      }),
    )

    it.effect("requests in one packet are answered in their order, each with its own id", () =>
      Effect.gen(function* () {
        const agent = newAgent()
        const body = JSON.stringify(heartbeatBody(agent))
        const asked = (id: string, line: string, text = "", headers = {}) =>
          requestText(line, { "X-Request-Id": id, "Content-Length": String(text.length), ...headers }, text)
        const received = yield* exchange(
          asked("first", "GET /api/v1/health") +
            asked("second", "POST /api/v1/heartbeat", body, { Authorization: `Bearer ${agent.key}` }) +
            asked("third", "POST /api/v1/heartbeat", "{", { Authorization: `Bearer ${agent.key}` }) +
            asked("fourth", "GET /api/v1/nowhere", "some body") +
            asked("fifth", "GET /api/v1/ready", "", { Connection: "close" }),
        )
        assert.deepStrictEqual(statusesOf(received), [200, 202, 400, 404, 200])
        const ids = Array.from(received.text.matchAll(/x-request-id: (\w+)/gi), (match) => match[1])
        assert.deepStrictEqual(ids, ["first", "second", "third", "fourth", "fifth"])
      }),
    )

    it.effect("what follows a request that was refused for its size is never read as another", () =>
      Effect.gen(function* () {
        const head = requestText("POST /api/v1/heartbeat", {
          Authorization: `Bearer ${newToken()}`,
          "Content-Length": String(1_048_577),
        })
        const received = yield* exchange(head + SMUGGLED.repeat(3))
        assert.deepStrictEqual(statusesOf(received), [413])
      }),
    )

    it.effect("a path of bytes that are no ASCII is nothing that the service fails at", () =>
      Effect.gen(function* () {
        const { authorization } = yield* Effect.map(itemsOf("/api/v1/agents"), () => ({
          authorization: "Bearer x",
        }))
        for (const path of [
          "/api/v1/\u00e9",
          "/api/v1/agents/\u00ff",
          "/api/v1/agents?limit=\u0080",
          "/\u00c3\u00a9",
        ]) {
          const bytes = requestText(`GET ${path}`, { Connection: "close", Authorization: authorization })
          const [status = 0] = statusesOf(yield* exchange(Buffer.from(bytes, "latin1")))
          assert.include([400, 401, 404], status, path)
        }
      }),
    )

    it.effect("a whole address is as good as its path (RFC 9112, 3.2.2)", () =>
      Effect.gen(function* () {
        const received = yield* exchange(
          requestText("GET http://tocsin/api/v1/health", { Connection: "close" }),
        )
        assert.deepStrictEqual(statusesOf(received), [200])
        assert.match(received.text, /\r\ncache-control: no-store\r\n/i)
      }),
    )

    it.effect("neither a tunnel nor another protocol is to be had", () =>
      Effect.gen(function* () {
        const upgrade = requestText("GET /api/v1/health", {
          Connection: "upgrade, close",
          Upgrade: "websocket",
        })
        assert.deepStrictEqual(statusesOf(yield* exchange(upgrade)), [200])
        const tunnel = yield* exchange(requestText("CONNECT tocsin:443", { Connection: "close" }))
        assert.notMatch(tunnel.text, /^HTTP\/1\.1 2/)
        const options = yield* exchange(requestText("OPTIONS *", { Connection: "close" }))
        assert.deepStrictEqual(statusesOf(options), [404])
      }),
    )
  })

  scenario("a request that is broken off in the middle of its body changes nothing", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent()
      const events = Array.from({ length: 50 }, (_, index) => event({ check_id: `check-${index}` }))
      const body = JSON.stringify({ agent_id: agent.agent_id, events })
      const half = body.slice(0, body.length / 2)
      const headers = { Authorization: `Bearer ${agent.key}` }
      const whole = requestText(
        "POST /api/v1/events",
        { ...headers, "Content-Length": String(body.length) },
        half,
      )
      const parts = requestText(
        "POST /api/v1/events",
        { ...headers, "Transfer-Encoding": "chunked" },
        `${half.length.toString(16)}\r\n${half}\r\n`,
      )
      for (const bytes of [whole, parts]) {
        // Broken off at once, after a while, and by a client that still listens.
        yield* exchange((socket) => socket.write(bytes, () => socket.destroy()))
        yield* exchange((socket) => socket.write(bytes, () => setImmediate(() => socket.resetAndDestroy())))
        const ended = yield* exchange((socket) => socket.end(bytes))
        assert.include([[], [400]].map(String), String(statusesOf(ended)))
      }
      assert.deepStrictEqual(yield* itemsOf("/api/v1/checks"), [])
      assert.deepStrictEqual(yield* itemsOf("/api/v1/events/query"), [])
      yield* isWell
    }),
  )

  scenario("slow clients have 10 s for their headers and 30 s for a request", () =>
    Effect.gen(function* () {
      const { headersTimeout, requestTimeout } = yield* nodeServer
      assert.deepStrictEqual(
        { headersTimeout, requestTimeout },
        { headersTimeout: 10_000, requestTimeout: 30_000 },
      )
    }),
  )

  // The limits are checked every second, so these take one or two whatever the limits are.
  const slow = { headersTimeout: 200, requestTimeout: 300 }

  scenario("clients that are slower are answered 408, and cut off", () =>
    Effect.gen(function* () {
      Object.assign(yield* nodeServer, slow)
      const agent = yield* acceptedAgent()
      const body = JSON.stringify(heartbeatBody(agent, { hostname: "too-late" }))
      const headers = { Authorization: `Bearer ${agent.key}` }
      const whole = requestText("POST /api/v1/heartbeat", {
        ...headers,
        "Content-Length": String(body.length),
      })
      const parts = requestText("POST /api/v1/heartbeat", { ...headers, "Transfer-Encoding": "chunked" })
      const slowly: ReadonlyArray<string | ((socket: Socket) => void)> = [
        "GET /api/v1/hea",
        "GET /api/v1/health HTTP/1.1\r\nHost: tocsin\r\nX-A: ",
        (socket) => dribble(socket, requestText("GET /api/v1/health", { "X-Long": "x".repeat(5_000) })),
        whole,
        whole + body.slice(0, -1),
        parts,
        `${parts}5\r\n{"age`,
        (socket) => {
          socket.write(whole)
          dribble(socket, body.padStart(5_000, " "))
        },
      ]
      // A connection without a request under way may stay.
      const idle = yield* Effect.forkChild(
        exchange((socket) => {
          socket.write(requestText("GET /api/v1/health"))
          setTimeout(() => socket.write(requestText("GET /api/v1/health", { Connection: "close" })), 2_500)
        }),
      )
      const all = yield* Effect.forEach(slowly, (bytes) => exchange(bytes), { concurrency: "unbounded" })
      for (const received of all) {
        assertRefused(received, 408)
        assert.isBelow(received.millis, 4_000)
      }
      const { millis } = yield* exchange("")
      assert.isBelow(millis, 4_000)
      assert.notMatch(JSON.stringify(yield* itemsOf("/api/v1/agents")), /too-late/)
      assert.deepStrictEqual(statusesOf(yield* Fiber.join(idle)), [200, 200])
      yield* isWell
    }),
  )
}

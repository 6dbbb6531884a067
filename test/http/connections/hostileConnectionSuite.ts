import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { exchange, requestText, statusesOf } from "../client/exchange.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { resetRequests } from "../client/resetRequests.ts"
import { acceptedAgent, event, heartbeatBody, newAgent } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { newToken } from "../service/Observatory.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { assertRefused } from "./assertRefused.ts"
import { malformedRequests, SMUGGLED } from "./malformedRequests.ts"

/** Malformed and hostile connections (docs/rules.md#http). */
export const hostileConnectionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together, scenario } = onStorage(subject)
  const isWell = Effect.gen(function* () {
    assert.strictEqual((yield* call("GET", "/api/v1/health")).status, 200)
    assert.strictEqual((yield* operate("GET", "/api/v1/agents")).status, 200)
  })

  together("connections", (it) => {
    it.effect.each(malformedRequests)("%s is refused, with everything after it", ([, bytes]) =>
      Effect.gen(function* () {
        const received = yield* exchange(Buffer.from(bytes + SMUGGLED, "latin1"))
        assertRefused(received, 400)
        assert.deepStrictEqual(yield* itemsOf("/api/v1/agents"), [])
      }),
    )

    it.effect("headers beyond Node's limit are refused", () =>
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

    it.effect("a malformed request does not suppress the answer to a complete request before it", () =>
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

    it.effect("requests in one packet are answered in order, each with its own ID", () =>
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

    it.effect("bytes after a request that is too large are never read as another request", () =>
      Effect.gen(function* () {
        const head = requestText("POST /api/v1/heartbeat", {
          Authorization: `Bearer ${newToken()}`,
          "Content-Length": String(1_048_577),
        })
        const received = yield* exchange(head + SMUGGLED.repeat(3))
        assert.deepStrictEqual(statusesOf(received), [413])
      }),
    )

    it.effect("a path with non-ASCII bytes is no failure of the service", () =>
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

    it.effect("a whole address works like its path (RFC 9112, 3.2.2)", () =>
      Effect.gen(function* () {
        const received = yield* exchange(
          requestText("GET http://tocsin/api/v1/health", { Connection: "close" }),
        )
        assert.deepStrictEqual(statusesOf(received), [200])
        assert.match(received.text, /\r\ncache-control: no-store\r\n/i)
      }),
    )

    it.effect("CONNECT and protocol upgrades are refused", () =>
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

  scenario("a connection that its client has reset, whose address is unknown, is not read", () =>
    Effect.gen(function* () {
      const { port } = yield* Tocsin
      const registration = (headers: Readonly<Record<string, string>>): string => {
        const agent = newAgent()
        const body = JSON.stringify(heartbeatBody(agent))
        const length = { "Content-Length": String(body.length) }
        const all = { Authorization: `Bearer ${agent.key}`, ...length, ...headers }
        return requestText("POST /api/v1/heartbeat", all, body)
      }
      // The front takes the first, and node:http the second.
      for (const headers of [{}, { Origin: "https://page.example" }]) {
        resetRequests(
          port,
          Array.from({ length: 20 }, () => registration(headers)),
        )
        yield* isWell
        assert.deepStrictEqual(yield* itemsOf("/api/v1/agents"), [])
      }
    }),
  )

  scenario("a request that ends in the middle of its body changes nothing", () =>
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
        // Closed immediately, after a while, and half-closed by a client that still reads.
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
}

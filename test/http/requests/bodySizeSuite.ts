import type { Socket } from "node:net"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { exchange, requestText, statusesOf } from "../client/exchange.ts"
import { expectError } from "../client/expectError.ts"
import { onStorage } from "../onStorage.ts"
import { heartbeatBody, newAgent } from "../client/TestAgent.ts"

const LIMIT = 1_048_576

/** A heartbeat of an exact number of bytes. */
const heartbeatOf = (bytes: number): string => JSON.stringify(heartbeatBody(newAgent())).padEnd(bytes, " ")

const inParts = (text: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  )

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

const head = (headers: Readonly<Record<string, string>>): string =>
  requestText("POST /api/v1/heartbeat", { Authorization: `Bearer ${newAgent().key}`, ...headers })

const chunked = { "Transfer-Encoding": "chunked" }

/** Sends parts for as long as the connection takes them. */
const sendOnAndOn = (socket: Socket, part: string): void => {
  const more = (): void => {
    while (socket.writable && socket.write(part));
  }
  socket.on("drain", more)
  more()
}

const forEachAtOnce = <A, E, R>(all: ReadonlyArray<A>, run: (one: A) => Effect.Effect<void, E, R>) =>
  Effect.forEach(all, run, { concurrency: "unbounded", discard: true })

/** Bodies of the largest size and beyond (docs/rules.md#bodies). */
export const bodySizeSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together } = onStorage(subject)

  together("bodies", (it) => {
    const heartbeat = (body: string | ReadonlyArray<string>) =>
      call("POST", "/api/v1/heartbeat", {
        token: newAgent().key,
        body: typeof body === "string" ? body : body.map((part) => Buffer.from(part)),
      })

    it.effect.each([LIMIT, 65_536, 1_000])(
      "1,048,576 bytes are accepted and one more is refused, in parts of %d",
      (size) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* heartbeat(inParts(heartbeatOf(LIMIT), size))).status, 202)
          const refused = yield* heartbeat(inParts(heartbeatOf(LIMIT + 1), size))
          expectError(refused, 413, "payload_too_large")
          assert.strictEqual(refused.headers.connection, "close")
        }),
    )

    it.effect("1,048,576 bytes are accepted and one more is refused, with a length", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* heartbeat(heartbeatOf(LIMIT))).status, 202)
        const refused = yield* heartbeat(heartbeatOf(LIMIT + 1))
        expectError(refused, 413, "payload_too_large")
        assert.strictEqual(refused.headers.connection, "close")
      }),
    )

    it.effect("bytes are counted, not characters", () =>
      Effect.gen(function* () {
        const json = JSON.stringify(heartbeatBody(newAgent(), { labels: { note: "\u00e9" } }))
        assert.strictEqual((yield* heartbeat(json.padEnd(LIMIT - 1, " "))).status, 202)
        expectError(yield* heartbeat(json.padEnd(LIMIT, " ")), 413, "payload_too_large")
      }),
    )

    it.effect("a mail to try has more, beside what any body has", () =>
      Effect.gen(function* () {
        yield* operate("POST", "/ops/v1/integrations", { json: { name: "nas", kind: "mail" } })
        const attempt = (length: number) =>
          operate("POST", "/ops/v1/integrations/nas/try", { json: { mail: "A".repeat(length) } })
        // It was read: this server has no reader of mails.
        expectError(yield* attempt(1_400_000), 409, "conflict")
        expectError(yield* attempt(1_400_001), 400, "validation")
        expectError(yield* attempt(1_400_000 + LIMIT), 413, "payload_too_large")
      }),
    )

    it.effect("an unexpected body is ignored up to the same size", () =>
      Effect.gen(function* () {
        for (const [method, path] of [
          ["POST", "/api/v1/agents/admission/accept-all"],
          ["DELETE", "/api/v1/agents/admission/blacklist"],
          ["GET", "/api/v1/agents"],
        ] as const) {
          const headers = { "content-encoding": "gzip", "content-type": "nonsense" }
          assert.strictEqual((yield* operate(method, path, { body: "no gzip", headers })).status, 200)
          for (const body of ["no JSON", "\u0000", " ".repeat(LIMIT), [Buffer.alloc(LIMIT)]]) {
            assert.strictEqual((yield* operate(method, path, { body })).status, 200)
          }
          for (const body of [" ".repeat(LIMIT + 1), [Buffer.alloc(LIMIT + 1)]]) {
            expectError(yield* operate(method, path, { body }), 413, "payload_too_large")
          }
        }
      }),
    )

    describe("the answer comes before the end of the body", () => {
      it.effect("when its length is too large", () =>
        Effect.gen(function* () {
          const received = yield* exchange(head({ "Content-Length": String(LIMIT + 1) }))
          assert.deepStrictEqual(statusesOf(received), [413])
          assert.match(received.text, /\r\nconnection: close\r\n/i)
        }),
      )

      it.effect("when its chunks exceed the limit and the last one is missing", () =>
        Effect.gen(function* () {
          const received = yield* exchange((socket) => {
            socket.write(head(chunked))
            for (const part of inParts(heartbeatOf(LIMIT + 1), 65_536)) socket.write(chunk(part))
          })
          assert.deepStrictEqual(statusesOf(received), [413])
          assert.match(received.text, /\r\nconnection: close\r\n/i)
        }),
      )

      it.effect("and reaches a client that sends another mebibyte before it reads", () =>
        Effect.gen(function* () {
          for (const headers of [chunked, { "Content-Length": String(2 * LIMIT) }]) {
            const isChunked = "Transfer-Encoding" in headers
            const received = yield* exchange((socket) => {
              socket.write(head(headers))
              const parts = inParts(heartbeatOf(2 * LIMIT), 65_536)
              for (const part of parts) socket.write(isChunked ? chunk(part) : part)
              if (isChunked) socket.write("0\r\n\r\n")
            })
            assert.deepStrictEqual(statusesOf(received), [413])
            assert.isFalse(received.wasReset)
          }
        }),
      )

      it.effect("and the connection of a client that never stops sending is closed", () =>
        forEachAtOnce([chunked, { "Content-Length": String(10 ** 12) }], (headers) =>
          Effect.gen(function* () {
            const part = "x".repeat(65_536)
            yield* exchange((socket) => {
              socket.write(head(headers))
              sendOnAndOn(socket, "Transfer-Encoding" in headers ? chunk(part) : part)
            })
          }),
        ),
      )

      it.effect("also with a wrong token or an unknown path", () =>
        forEachAtOnce(
          [
            ["POST /api/v1/heartbeat", 401, chunked],
            ["POST /api/v1/heartbeat", 401, { "Content-Length": String(10 * LIMIT) }],
            ["POST /api/v1/nowhere", 404, chunked],
            ["POST /api/v1/nowhere", 404, { "Content-Length": String(10 * LIMIT) }],
            ["POST /api/v1/agents/admission/accept-all", 401, chunked],
            ["POST /api/v1/agents/admission/accept-all", 401, { "Content-Length": String(10 * LIMIT) }],
          ] as const,
          ([line, status, headers]) =>
            Effect.gen(function* () {
              const received = yield* exchange(requestText(line, headers))
              assert.deepStrictEqual(statusesOf(received), [status], line)
            }),
        ),
      )
    })

    it.effect("Expect: 100-continue is answered with 100, or with 413", () =>
      Effect.gen(function* () {
        const body = heartbeatOf(300)
        const asks = { Expect: "100-continue", Connection: "close" }
        const taken = yield* exchange((socket) => {
          socket.write(head({ ...asks, "Content-Length": "300" }))
          socket.once("data", () => socket.write(body))
        })
        assert.deepStrictEqual(statusesOf(taken), [100, 202])
        const refused = yield* exchange(head({ ...asks, "Content-Length": String(LIMIT + 1) }))
        assert.deepStrictEqual(statusesOf(refused), [413])
        // Without a length the size is still unknown.
        const inChunks = yield* exchange((socket) => {
          socket.write(head({ ...asks, ...chunked }))
          socket.once("data", () => {
            for (const part of inParts(heartbeatOf(LIMIT + 1), 65_536)) socket.write(chunk(part))
          })
        })
        assert.deepStrictEqual(statusesOf(inChunks), [100, 413])
      }),
    )

    it.effect("an unread body does not become the next request", () =>
      Effect.gen(function* () {
        for (const size of [10, 1_000, 200_000]) {
          const text = `GET /api/v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n`.padEnd(size, "x").slice(0, size)
          const unread = requestText("POST /api/v1/heartbeat", { "Content-Length": String(size) }, text)
          const next = requestText("GET /api/v1/health", { Connection: "close" })
          assert.deepStrictEqual(statusesOf(yield* exchange(unread + next)), [401, 200])
        }
        // More than that is not waited for.
        const long = "x".repeat(400_000)
        const unread = requestText("POST /api/v1/heartbeat", { "Content-Length": String(long.length) }, long)
        assert.deepStrictEqual(statusesOf(yield* exchange(unread + requestText("GET /api/v1/health"))), [401])
      }),
    )
  })
}

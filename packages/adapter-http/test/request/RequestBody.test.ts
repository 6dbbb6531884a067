import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { MAX_BODY_BYTES } from "../../src/request/RequestBody.ts"
import { agent, errorOf, exchange, heartbeat, operator, send } from "../http.ts"
import { testServer } from "../TestServer.ts"

const server = testServer({
  ingest: { heartbeat: () => Effect.succeed({ accepted: true }) },
  admission: { blockAll: Effect.succeed({ count: 0 }) },
})

/** A heartbeat as JSON of so many bytes. */
const ofSize = (bytes: number): Uint8Array => Buffer.from(JSON.stringify(heartbeat).padEnd(bytes, " "))

const parts = (body: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
    body.subarray(index * size, (index + 1) * size),
  )

const push = (body: string | Uint8Array | ReadonlyArray<Uint8Array>, headers: Record<string, string> = {}) =>
  send("POST", "/api/v1/heartbeat", { headers: { ...agent, ...headers }, body })

layer(server, { excludeTestServices: true })("a request body", (it) => {
  it.effect("of 1 MiB is accepted, with its length and without", () =>
    Effect.gen(function* () {
      const body = ofSize(MAX_BODY_BYTES)
      assert.strictEqual((yield* push(body)).status, 202)
      assert.strictEqual((yield* push(parts(body, 10_000))).status, 202)
    }),
  )

  it.effect("of one byte more is refused, with its length and without", () =>
    Effect.gen(function* () {
      const body = ofSize(MAX_BODY_BYTES + 1)
      for (const sent of [body, parts(body, 10_000)]) {
        const refused = yield* push(sent)
        assert.strictEqual(refused.status, 413)
        assert.strictEqual(errorOf(refused).code, "payload_too_large")
        assert.strictEqual(refused.headers.connection, "close")
      }
    }),
  )

  it.effect("is as small as that where it is ignored", () =>
    Effect.gen(function* () {
      const act = (body: Uint8Array | ReadonlyArray<Uint8Array>) =>
        send("POST", "/api/v1/agents/admission/block-all", { headers: operator, body })
      assert.strictEqual((yield* act(ofSize(MAX_BODY_BYTES))).status, 200)
      assert.strictEqual((yield* act(ofSize(MAX_BODY_BYTES + 1))).status, 413)
      assert.strictEqual((yield* act(parts(ofSize(MAX_BODY_BYTES + 1), 10_000))).status, 413)
    }),
  )

  it.effect("is never waited for once it is known to be too long", () =>
    Effect.gen(function* () {
      const head =
        "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer agent-key\r\n" +
        `Content-Length: ${10 * MAX_BODY_BYTES}\r\n\r\n`
      assert.match(yield* exchange((socket) => socket.write(head)), /^HTTP\/1.1 413 /)
    }),
  )

  it.effect("is dropped after an early answer, so that a client that keeps sending sees it", () =>
    Effect.gen(function* () {
      const body = ofSize(2 * MAX_BODY_BYTES)
      for (const sent of [body, parts(body, 60_000)]) {
        const refused = yield* send("POST", "/api/v1/heartbeat", { body: sent })
        assert.strictEqual(refused.status, 401)
        assert.strictEqual(refused.headers.connection, "close")
      }
    }),
  )

  it.effect("is asked for when the client waits for that, unless it is refused", () =>
    Effect.gen(function* () {
      const head = (length: number) =>
        "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer agent-key\r\n" +
        `Connection: close\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
      const body = JSON.stringify(heartbeat)
      const taken = yield* exchange((socket) => {
        socket.write(head(body.length))
        socket.once("data", () => socket.write(body))
      })
      assert.match(taken, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 202 /)
      assert.match(yield* exchange((socket) => socket.write(head(MAX_BODY_BYTES + 1))), /^HTTP\/1.1 413 /)
    }),
  )

  it.effect("that was asked for is as small as others", () =>
    Effect.gen(function* () {
      const head =
        "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer agent-key\r\n" +
        "Connection: close\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
      const chunk = (size: number) => `${size.toString(16)}\r\n${" ".repeat(size)}\r\n`
      const send = (size: number) =>
        exchange((socket) => {
          socket.write(head)
          socket.once("data", () => socket.write(`${chunk(size)}0\r\n\r\n`))
        })
      assert.match(yield* send(MAX_BODY_BYTES), /HTTP\/1.1 400 /)
      assert.match(yield* send(MAX_BODY_BYTES + 1), /HTTP\/1.1 413 /)
    }),
  )

  it.effect("that ends early keeps nothing waiting", () =>
    Effect.gen(function* () {
      const head = "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer agent-key\r\n"
      yield* exchange((socket) => {
        socket.write(`${head}Content-Length: 100\r\n\r\n{`, () => socket.destroy())
      })
      assert.strictEqual((yield* push(JSON.stringify(heartbeat))).status, 202)
    }),
  )

  it.effect.each([
    ["not JSON", "{"],
    ["empty", ""],
    ["not UTF-8", Uint8Array.of(0x22, 0xff, 0x22)],
    ["UTF-8 with surrogates", Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ["nested 100,000 deep", "[".repeat(100_000) + "]".repeat(100_000)],
    ["nested and never closed", "[".repeat(1_000_000)],
  ] as const)("that is %s is refused in one sentence", ([, body]) =>
    Effect.gen(function* () {
      const refused = yield* push(body)
      assert.strictEqual(refused.status, 400)
      assert.strictEqual(errorOf(refused).code, "validation")
      assert.match(errorOf(refused).message, /^the request body must (?:be|contain) /)
    }),
  )

  it.effect("may begin with a byte order mark, and have any Content-Type", () =>
    Effect.gen(function* () {
      const body = `\ufeff${JSON.stringify(heartbeat)}`
      assert.strictEqual((yield* push(body, { "content-type": "text/html" })).status, 202)
    }),
  )

  it.effect("must not be encoded", () =>
    Effect.gen(function* () {
      const body = JSON.stringify(heartbeat)
      assert.strictEqual((yield* push(body, { "content-encoding": "identity" })).status, 202)
      assert.strictEqual((yield* push(body, { "content-encoding": "gzip" })).status, 400)
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      for (const [coding, status] of [
        ["chunked", 202],
        ["Chunked", 202],
        ["gzip, chunked", 400],
        ["gzip\r\nTransfer-Encoding: chunked", 400],
      ] as const) {
        const answer = yield* exchange((socket) =>
          socket.write(
            "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer agent-key\r\n" +
              `Connection: close\r\nTransfer-Encoding: ${coding}\r\n\r\n${chunk}`,
          ),
        )
        assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), coding)
        assert.strictEqual(answer.includes("Transfer-Encoding other than chunked"), status === 400)
      }
    }),
  )
})

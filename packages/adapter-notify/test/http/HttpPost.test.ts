import { assert, describe, it } from "@effect/vitest"
import type { TestReceipt } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Fiber, Queue, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import {
  type HttpPost,
  type HttpPostOptions,
  makeHttpPost,
  parseRetryAfter,
} from "../../src/http/HttpPost.ts"
import { answering, type Receiver, startReceiver } from "../Receiver.ts"
import { at } from "../notifications.ts"

const posting = (address: string, options: Partial<HttpPostOptions> = {}) =>
  makeHttpPost({
    address: Redacted.make(address),
    timeout: Duration.seconds(15),
    denyPrivateTargets: false,
    ...options,
  })

/** The outcome of one post to a receiver that answers so. */
const postTo = (
  answer: Parameters<typeof startReceiver>[0],
  use: (post: HttpPost, receiver: Receiver) => Effect.Effect<TestReceipt, never, Scope.Scope> = (post) =>
    post("{}"),
) =>
  Effect.gen(function* () {
    const receiver = yield* startReceiver(answer)
    const post = yield* posting(`${receiver.origin}/hook`)
    return yield* use(post, receiver)
  })

/** Enough turns of the event loop for a message to arrive. */
const turns = Effect.callback<void>((resume) => {
  let left = 200
  const turn = (): void => {
    left -= 1
    if (left === 0) resume(Effect.void)
    else setImmediate(turn)
  }
  turn()
})

/** Accepts a connection and does with it what a broken receiver would. */
const brokenReceiver = (respond: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((socket) => {
        socket.on("error", () => {})
        socket.once("data", () => respond(socket))
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close()),
  ).pipe(
    // A server that listens on TCP has such an address.
    Effect.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`),
  )

const deferred = (receipt: TestReceipt): string =>
  receipt.result.outcome === "deferred" ? receipt.result.error : assert.fail(JSON.stringify(receipt))

describe("the meaning of an answer", () => {
  for (const status of [200, 201, 202, 204, 226]) {
    it.effect(`${status} is delivered`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* postTo(answering(status)), { status, result: { outcome: "delivered" } })
      }),
    )
  }

  for (const status of [408, 425, 429, 500, 502, 503, 504, 507, 599]) {
    it.effect(`${status} is worth another attempt`, () =>
      Effect.gen(function* () {
        const receipt = yield* postTo(answering(status, {}, "why: secret-of-the-receiver"))
        assert.strictEqual(receipt.status, status)
        assert.match(
          deferred(receipt),
          new RegExp(`^The receiver answered ${status}( \\([A-Za-z ]+\\))?\\.$`),
        )
        assert.notProperty(receipt.result, "retryAfterSeconds")
      }),
    )
  }

  for (const status of [300, 304, 400, 401, 403, 404, 405, 409, 410, 413, 418, 422, 451, 499, 600, 999]) {
    it.effect(`${status} is refused`, () =>
      Effect.gen(function* () {
        const { result } = yield* postTo(answering(status, {}, "why: secret-of-the-receiver"))
        if (result.outcome !== "refused") assert.fail(JSON.stringify(result))
        assert.match(result.error, new RegExp(`^The receiver answered ${status}[^:]*: [^:]+\\.$`))
        assert.notInclude(result.error, "secret-of-the-receiver")
      }),
    )
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it.effect(`${status} is not followed`, () =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver(answering(status, { location: "/elsewhere" }))
        const post = yield* posting(`${receiver.origin}/hook`)
        const { result } = yield* post("{}")
        assert.strictEqual(result.outcome, "refused")
        assert.include(JSON.stringify(result), "does not follow redirects")
        assert.strictEqual((yield* Queue.take(receiver.requests)).path, "/hook")
        assert.strictEqual(yield* Queue.size(receiver.requests), 0)
      }),
    )
  }

  it.effect("Retry-After counts in seconds and as a date by our clock", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-01-31T08:30:00Z"))
      const waits = (header: string) =>
        Effect.map(postTo(answering(429, { "retry-after": header })), ({ result }) =>
          result.outcome === "deferred" ? result.retryAfterSeconds : assert.fail(JSON.stringify(result)),
        )
      assert.strictEqual(yield* waits("17"), 17)
      assert.strictEqual(yield* waits("Sat, 31 Jan 2026 08:32:00 GMT"), 120)
      assert.strictEqual(yield* waits("in a while"), undefined)
    }),
  )

  it.effect("Retry-After of a 503 counts as well", () =>
    Effect.gen(function* () {
      const { result } = yield* postTo(answering(503, { "retry-after": "30" }))
      assert.deepInclude(result, { outcome: "deferred", retryAfterSeconds: 30 })
    }),
  )
})

describe("a body", () => {
  it.effect("that breaks off does not undo a 2xx", () =>
    Effect.gen(function* () {
      const receipt = yield* postTo((response) => {
        response.writeHead(200, { "content-length": "1000" })
        response.write("some", () => response.destroy())
      })
      assert.deepStrictEqual(receipt, { status: 200, result: { outcome: "delivered" } })
    }),
  )

  for (const status of [200, 404, 500]) {
    it.effect(`without end is not waited for, and ${status} still counts`, () =>
      Effect.gen(function* () {
        const receipt = yield* postTo(
          (response) => {
            response.writeHead(status)
            const piece = Buffer.alloc(16 * 1024, "x")
            const pour = () => {
              while (!response.destroyed && response.write(piece)) {}
            }
            response.on("drain", pour)
            pour()
          },
          (post, receiver) =>
            Effect.gen(function* () {
              const answer = yield* post("{}")
              yield* (yield* Queue.take(receiver.requests)).closed
              return answer
            }),
        )
        assert.strictEqual(receipt.status, status)
      }),
    )
  }

  for (const [bytes, connections] of [
    [64 * 1024, 1],
    [64 * 1024 + 1, 2],
  ] as const) {
    it.effect(`of ${bytes} bytes ${connections === 1 ? "is read" : "is cut, with its connection"}`, () =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver(answering(200, {}, "x".repeat(bytes)))
        const post = yield* posting(receiver.origin)
        for (let count = 0; count < 2; count++) assert.strictEqual((yield* post("{}")).status, 200)
        assert.strictEqual(receiver.connections(), connections)
      }),
    )
  }

  it.effect("that is slow is given two seconds, not the whole time of the attempt", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver((response) => {
        response.writeHead(200)
        response.write("and")
      })
      const post = yield* posting(receiver.origin)
      const answer = yield* Effect.forkChild(post("{}"))
      yield* Queue.take(receiver.requests)
      // Its head arrives in real time, so the two seconds begin at one of these steps. The attempt
      // has fifteen.
      for (let seconds = 0; seconds < 12 && answer.pollUnsafe() === undefined; seconds += 2) {
        yield* turns
        yield* TestClock.adjust("2 seconds")
        yield* turns
      }
      assert.isDefined(answer.pollUnsafe())
      assert.strictEqual((yield* Fiber.join(answer)).status, 200)
    }),
  )

  it.live("that does not end in time does not undo a 2xx", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver((response) => {
        response.writeHead(200)
        response.write("and")
      })
      const post = yield* posting(receiver.origin, { timeout: Duration.seconds(2) })
      assert.deepStrictEqual(yield* post("{}"), { status: 200, result: { outcome: "delivered" } })
      yield* (yield* Queue.take(receiver.requests)).closed
    }),
  )
})

describe("a status line decides, whatever follows it:", () => {
  const ended = ["content-length: 0", "", ""].join("\r\n")
  for (const [name, answer, status] of [
    ["bare LF", "HTTP/1.1 200 OK\ncontent-length: 2\n\nok", 200],
    ["a folded field", `HTTP/1.1 201 Created\r\nx: a\r\n b\r\n${ended}`, 201],
    [
      "two framings",
      "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
      200,
    ],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok", 200],
    ["a field without a colon", `HTTP/1.1 204 No Content\r\nnonsense\r\n${ended}`, 204],
    ["a control character", `HTTP/1.1 200 OK\r\nset-cookie: a\u0001b\r\n${ended}`, 200],
    ["no reason", `HTTP/1.1 200\r\nx\r\n${ended}`, 200],
    ["a chunk that is none", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 200],
    ["half a head", "HTTP/1.1 200 OK\r\ncontent-", 200],
    ["a head without end", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(70_000)}`, 200],
    ["behind an interim answer", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\nx\n\n", 200],
    ["behind empty lines", "\r\n\r\nHTTP/1.1 200 OK\nx\n\n", 200],
    ["of another version", "HTTP/2 202 Accepted\r\n\r\n", 202],
    ["a refusal", "HTTP/1.1 404 Not Found\ncontent-length: 0\n\n", 404],
  ] as const) {
    it.effect(name, () =>
      Effect.gen(function* () {
        // Whole, and in parts as a network may cut it.
        for (const size of [answer.length, 10]) {
          const host = yield* brokenReceiver((socket) => {
            const parts = answer.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? []
            const next = () => {
              const part = parts.shift()
              if (part === undefined) socket.end()
              else socket.write(part, "latin1", () => setImmediate(next))
            }
            next()
          })
          const post = yield* posting(`http://${host}/`)
          const { result, status: seen } = yield* post("{}")
          assert.strictEqual(seen, status)
          assert.strictEqual(result.outcome, status < 300 ? "delivered" : "refused")
        }
      }),
    )
  }

  it.effect.each([
    ["HTTP/1.1 503 Down\nRetry-After: 90\ncontent-length: 0\n\n", 90],
    ["HTTP/1.1 429 Too Many Requests\r\nx\r\nretry-after:90\r\n\r\n", 90],
    ["HTTP/1.1 103 Early Hints\r\nretry-after: 5\r\n\r\nHTTP/1.1 503 Down\nRetry-After : 90 \n\n", 90],
    ["HTTP/1.1 503 Down\nx: a\n\nRetry-After: 90\n", undefined],
    ["HTTP/1.1 503 Down\nx-retry-after: 90\n\n", undefined],
  ] as const)("and Retry-After behind it is honoured: %j", ([answer, seconds]) =>
    Effect.gen(function* () {
      const host = yield* brokenReceiver((socket) => socket.end(answer, "latin1"))
      const { result } = yield* (yield* posting(`http://${host}/`))("{}")
      const wait = seconds !== undefined && { retryAfterSeconds: seconds }
      assert.deepEqual({ ...result, error: "" }, { outcome: "deferred", error: "", ...wait })
    }),
  )

  it.effect("a hundred interim answers before none are read soon", () =>
    Effect.gen(function* () {
      const answer = `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)}nonsense\r\n`
      const host = yield* brokenReceiver((socket) => socket.end(answer))
      const { result } = yield* (yield* posting(`http://${host}/`))("{}")
      assert.strictEqual(result.outcome, "deferred")
    }),
  )

  it.live("a head that never ends in time", () =>
    Effect.gen(function* () {
      const host = yield* brokenReceiver((socket) => socket.write("HTTP/1.1 200 OK\r\nx: y\r\n"))
      const post = yield* posting(`http://${host}/`, { timeout: Duration.millis(300) })
      assert.deepStrictEqual(yield* post("{}"), { status: 200, result: { outcome: "delivered" } })
    }),
  )

  it.effect("each request has its own, also on a connection that serves several", () =>
    Effect.gen(function* () {
      const answers = [`HTTP/1.1 200 OK\r\n${ended}`, "", `HTTP/1.1 200 OK\r\n${ended}`]
      let connections = 0
      const host = yield* brokenReceiver((socket) => {
        connections += 1
        const answer = () =>
          answers[0] === "" ? (answers.shift(), socket.end()) : socket.write(answers.shift() ?? "")
        answer()
        socket.on("data", answer)
      })
      const post = yield* posting(`http://${host}/`)
      const outcomes: Array<string> = []
      for (let n = 0; n < 3; n++) outcomes.push((yield* post("{}")).result.outcome)
      assert.deepStrictEqual([outcomes, connections], [["delivered", "deferred", "delivered"], 2])
    }),
  )
})

describe("without an answer", () => {
  it.effect("for 15 s it is a time-out, and the connection is closed", () =>
    Effect.gen(function* () {
      const receipt = yield* postTo(
        () => {},
        (post, receiver) =>
          Effect.gen(function* () {
            const attempt = yield* Effect.forkChild(post("{}"))
            const request = yield* Queue.take(receiver.requests)
            yield* TestClock.adjust("14999 millis")
            assert.isUndefined(attempt.pollUnsafe())
            yield* TestClock.adjust("1 millis")
            yield* request.closed
            return yield* Fiber.join(attempt)
          }),
      )
      assert.strictEqual(deferred(receipt), "The receiver did not answer within 15s.")
      assert.isUndefined(receipt.status)
    }),
  )

  it.effect("an interrupted attempt closes its connection immediately", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => {})
      const post = yield* posting(receiver.origin)
      const attempt = yield* Effect.forkChild(post("{}"))
      const request = yield* Queue.take(receiver.requests)
      yield* Fiber.interrupt(attempt)
      yield* request.closed
    }),
  )

  it.effect("a refused connection", () =>
    Effect.gen(function* () {
      const { port } = yield* Effect.scoped(startReceiver(answering(200)))
      const post = yield* posting(`http://127.0.0.1:${port}/`)
      assert.match(deferred(yield* post("{}")), /^The receiver refused the connection: /)
    }),
  )

  it.effect("a reset connection", () =>
    Effect.gen(function* () {
      const host = yield* brokenReceiver((socket) => socket.resetAndDestroy())
      const post = yield* posting(`http://${host}/`)
      assert.strictEqual(deferred(yield* post("{}")), "The connection closed before the receiver answered.")
    }),
  )

  for (const [name, answer, error] of [
    ["a closed connection", "", "The connection closed before the receiver answered."],
    ["half a status line", "HTTP/1.1 200", "The connection closed before the receiver answered."],
    ["not HTTP", "220 mail ESMTP\r\n", "The answer was not HTTP: check the address and the port."],
    [
      "a switch of protocols",
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
      "The connection closed before the receiver answered.",
    ],
  ] as const) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const host = yield* brokenReceiver((socket) => socket.end(answer))
        const post = yield* posting(`http://${host}/`)
        assert.strictEqual(deferred(yield* post("{}")), error)
      }),
    )
  }

  it.effect("TLS with what does not speak it", () =>
    Effect.gen(function* () {
      const host = yield* brokenReceiver((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      const post = yield* posting(`https://${host}/`)
      assert.strictEqual(
        deferred(yield* post("{}")),
        "The TLS handshake failed: check that the port speaks TLS, or begin the address with http://.",
      )
    }),
  )
})

describe("a request", () => {
  it.effect("is a POST of JSON to the address, with its userinfo as Basic credentials", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(204))
      const post = yield* posting(
        `http://j%C3%B6rg:p%40ss%3A%25@127.0.0.1:${receiver.port}/a%20b/c?d=e%26&f#g`,
      )
      yield* post('{"text":"é"}', { headers: { "x-own": "1" } })
      const request = yield* Queue.take(receiver.requests)
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.path, "/a%20b/c?d=e%26&f")
      assert.strictEqual(request.body, '{"text":"é"}')
      assert.deepInclude(request.headers, {
        "content-type": "application/json",
        "content-length": "13",
        "user-agent": "Tocsin",
        "x-own": "1",
        host: `127.0.0.1:${receiver.port}`,
        authorization: `Basic ${Buffer.from("jörg:p@ss:%").toString("base64")}`,
      })
    }),
  )

  it.effect("without userinfo has no credentials", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(204))
      yield* (yield* posting(receiver.origin))("{}")
      assert.notProperty((yield* Queue.take(receiver.requests)).headers, "authorization")
    }),
  )

  it.effect("goes below a base address, whatever slashes end it", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(204))
      for (const base of ["", "/", "/am", "/am//"]) {
        yield* (yield* posting(`${receiver.origin}${base}?x=1`, { path: "/api" }))("{}")
      }
      const paths = Array.from(yield* Queue.takeAll(receiver.requests), ({ path }) => path)
      assert.deepStrictEqual(paths, ["/api?x=1", "/api?x=1", "/am/api?x=1", "/am/api?x=1"])
    }),
  )

  it.effect("reuses the connection of the one before, after a success and after a failure", () =>
    Effect.gen(function* () {
      let answered = 0
      const receiver = yield* startReceiver((response) =>
        answering(answered++ % 2 === 0 ? 200 : 503, {}, "text".repeat(1_000))(response),
      )
      const post = yield* posting(receiver.origin)
      for (let count = 0; count < 6; count++) yield* post("{}")
      assert.strictEqual(answered, 6)
      assert.strictEqual(receiver.connections(), 1)
    }),
  )

  it.effect("waits for no other one, however many hang", () =>
    Effect.gen(function* () {
      let arrived = 0
      const receiver = yield* startReceiver((response) => {
        arrived += 1
        if (arrived > 60) answering(200)(response)
      })
      const post = yield* posting(receiver.origin)
      for (let count = 0; count < 60; count++) yield* Effect.forkChild(post("{}"))
      for (let count = 0; count < 60; count++) yield* Queue.take(receiver.requests)
      assert.strictEqual((yield* post("{}")).status, 200)
    }),
  )

  it.effect("leaves no connection behind when its scope closes", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      yield* Effect.scoped(Effect.flatMap(posting(receiver.origin), (post) => post("{}")))
      const { closed } = yield* Queue.take(receiver.requests)
      // At once: an idle one ends after some seconds anyway.
      assert.strictEqual(
        yield* Effect.raceFirst(Effect.as(closed, "closed"), Effect.as(turns, "idle")),
        "closed",
      )
    }),
  )
})

const now = at("2026-01-31T08:30:00.000001Z")

describe("Retry-After", () => {
  it.each([
    ["0", 0],
    ["120", 120],
    ["12.7", 13],
    ["12.", 12],
    ["0.001", 1],
    ["Sat, 31 Jan 2026 08:30:30 UTC", 30],
    ["Sun, 1 Feb 2026 08:30:00 +0000", 86_400],
    [" 7 ", 7],
    ["999999999999999999999999", Number.MAX_SAFE_INTEGER],
    // Rounded up: not a moment too early.
    ["Sat, 31 Jan 2026 08:30:30 GMT", 30],
    ["Sat, 31 Jan 2026 09:30:00 GMT", 3_600],
    ["Saturday, 31-Jan-26 08:31:00 GMT", 60],
    ["Sat Jan 31 08:31:00 2026", 60],
    ["Sun Feb  1 08:30:00 2026", 86_400],
    ["Wed, 31 Dec 2025 23:59:59 GMT", 0],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
  ])("%j asks to wait %i s", (header, seconds) => {
    assert.strictEqual(parseRetryAfter(header, now), seconds)
  })

  it.each([
    undefined,
    "",
    "-1",
    ".5",
    "1,5",
    "1.2.3",
    "1e3",
    "soon",
    "2026-01-31T08:31:00Z",
    "Sat, 31 Feb 2026 08:31:00 GMT",
    "Sat, 31 Jan 2026 25:00:00 GMT",
    "Sat, 31 Jan 2026 08:31:00 CET",
    "31 Jan 2026 08:31:00 GMT",
  ])("%j asks nothing", (header) => {
    assert.isUndefined(parseRetryAfter(header, now))
  })
})

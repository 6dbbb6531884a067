import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import process from "node:process"
import { assert, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpServer, HttpServerResponse } from "effect/http"
import * as AgentFront from "../src/fastpath/AgentFront.ts"
import * as NodeServer from "../src/NodeServer.ts"
import * as Intake from "../src/request/Intake.ts"
import * as FailureLog from "../src/response/FailureLog.ts"
import { exchange, operator, send } from "./http.ts"
import { until } from "./until.ts"
import { REQUEST_ID, stubServices, testServer } from "./TestServer.ts"

layer(testServer(), { excludeTestServices: true })("a broken HTTP request", (it) => {
  it.effect.each<[name: string, sent: string, status: string]>([
    ["garbage", "hello\r\n\r\n", "400 Bad Request"],
    ["a header without a name", "GET / HTTP/1.1\r\nHost: test\r\n: x\r\n\r\n", "400 Bad Request"],
    [
      "two lengths",
      "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "400 Bad Request",
    ],
    [
      "a length and chunks",
      "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "400 Bad Request",
    ],
    [
      "headers without end",
      `GET / HTTP/1.1\r\nHost: test\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
      "431 Request Header Fields Too Large",
    ],
  ])("%s is answered with an id and no body", ([, sent, status]) =>
    Effect.gen(function* () {
      const received = yield* exchange((socket) => socket.write(sent))
      assert.strictEqual(
        received,
        `HTTP/1.1 ${status}\r\nX-Request-Id: ${REQUEST_ID}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      )
    }),
  )

  it.effect("a body in broken chunks is refused", () =>
    Effect.gen(function* () {
      const received = yield* exchange((socket) =>
        socket.write(
          "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer agent-key\r\n" +
            "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        ),
      )
      assert.match(received, /^HTTP\/1.1 400 Bad Request\r\nX-Request-Id: /)
    }),
  )
})

layer(testServer(), { excludeTestServices: true })("an answer before the end of a body", (it) => {
  it.effect("is sent in full, although malformed bytes follow", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 20; round += 1) {
        const received = yield* exchange((socket) =>
          socket.write(
            "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{",
            () => setImmediate(() => socket.write("malformed")),
          ),
        )
        assert.match(received, /^HTTP\/1\.1 40[01] [^]*\r\nconnection: close\r\n/i)
      }
    }),
  )

  it.effect("that closes the connection is its only one, whatever follows in the same read", () =>
    Effect.gen(function* () {
      const received = yield* exchange((socket) =>
        socket.write(
          "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n" +
            "12345malformed\r\n\r\n",
        ),
      )
      assert.deepStrictEqual(received.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 401"])
    }),
  )
})

layer(testServer(), { excludeTestServices: true })("a request", (it) => {
  it.effect("needs a Host in HTTP/1.1 alone", () =>
    Effect.gen(function* () {
      const refused = yield* exchange((socket) => socket.write("GET /api/v1/health HTTP/1.1\r\n\r\n"))
      assert.match(refused, /^HTTP\/1.1 400 Bad Request\r\n/)
      assert.include(refused, `x-request-id: ${REQUEST_ID}`)
      const answered = yield* exchange((socket) => socket.write("GET /api/v1/health HTTP/1.0\r\n\r\n"))
      assert.match(answered, /^HTTP\/1.1 200 OK\r\n/)
    }),
  )

  it.effect("to connect to somewhere else is answered 404, and its connection closed", () =>
    Effect.gen(function* () {
      for (const target of ["example.com:443", "/api/v1/health"]) {
        const received = yield* exchange((socket) =>
          socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: example.com\r\n\r\nmore`),
        )
        assert.match(received, /^HTTP\/1.1 404 Not Found\r\n/)
        assert.include(received, `x-request-id: ${REQUEST_ID}`)
        assert.include(received, '"code":"not_found"')
        assert.match(received, /\r\nconnection: close\r\n/i)
      }
    }),
  )

  it.effect("is answered whatever it would upgrade to, or expects", () =>
    Effect.gen(function* () {
      for (const headers of [{ connection: "upgrade, close", upgrade: "h2c" }, { expect: "wonders" }]) {
        const received = yield* send("GET", "/api/v1/health", { headers })
        assert.strictEqual(received.status, 200)
        assert.strictEqual(received.headers["x-request-id"], REQUEST_ID)
      }
    }),
  )
})

/** A server whose summary waits until it is told to answer, and how to stop it. */
const stoppable = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const answer = yield* Deferred.make<void>()
  const drained = yield* Deferred.make<void>()
  const scope = yield* Scope.make()
  let isDraining = false
  let begun = 0
  const begin = Effect.sync(() => void (begun += 1))
  const context = yield* Layer.buildWithScope(
    testServer({
      admission: {
        blockAll: Effect.as(
          Effect.andThen(begin, Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(answer))),
          { count: 1 },
        ),
      },
      readiness: {
        isDraining: () => isDraining,
        drain: Effect.suspend(() => {
          isDraining = true
          return Deferred.succeed(drained, undefined)
        }),
      },
    }),
    scope,
  )
  return { asked, begun: () => begun, answer, drained, context, stop: Scope.close(scope, Exit.void) }
})

it.live("a server that stops finishes what it has begun, and closes what is idle", () =>
  Effect.gen(function* () {
    const { asked, answer, drained, context, stop } = yield* stoppable
    const onServer = Effect.provideContext<HttpServer.HttpServer>(context)
    const idle = yield* Effect.forkChild(
      onServer(exchange((socket) => socket.write("GET /api/v1/health HTTP/1.1\r\nHost: test\r\n\r\n"))),
    )
    const begun = yield* Effect.forkChild(
      onServer(
        send("POST", "/api/v1/agents/admission/block-all", {
          headers: { ...operator, connection: "keep-alive" },
        }),
      ),
    )
    yield* Deferred.await(asked)
    const stopping = yield* Effect.forkChild(stop)
    yield* Deferred.await(drained)
    assert.match(yield* Fiber.join(idle), /^HTTP\/1.1 200 OK\r\n/)
    yield* Deferred.succeed(answer, undefined)
    const finished = yield* Fiber.join(begun)
    assert.strictEqual(finished.status, 200)
    assert.strictEqual(finished.headers.connection, "close")
    yield* Fiber.join(stopping)
    assert.include((yield* Effect.flip(onServer(send("GET", "/api/v1/health")))).message, "ECONNREFUSED")
  }),
)

it.live("malformed bytes that arrive in many parts behind a request wait for its answer once", () =>
  Effect.gen(function* () {
    const { asked, answer, context } = yield* stoppable
    const warnings: Array<string> = []
    const note = ({ name }: Error): void => void warnings.push(name)
    process.on("warning", note)
    const writeParts = (socket: Socket, left: number): void => {
      if (left > 0) socket.write("?", () => setImmediate(() => writeParts(socket, left - 1)))
      else Deferred.doneUnsafe(answer, Effect.void)
    }
    const received = exchange((socket) => {
      socket.write(
        `POST /api/v1/agents/admission/block-all HTTP/1.1\r\nHost: test\r\nAuthorization: ${operator.authorization}\r\n\r\n`,
      )
      Effect.runFork(
        Effect.andThen(
          Deferred.await(asked),
          Effect.sync(() => writeParts(socket, 30)),
        ),
      )
    })
    const text = yield* Effect.provideContext<HttpServer.HttpServer>(context)(received)
    process.off("warning", note)
    assert.deepStrictEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 400"])
    assert.deepStrictEqual(warnings, [])
  }),
)

it.live("a malformed request is refused after the answer to the one before it", () =>
  Effect.gen(function* () {
    const { asked, answer, context } = yield* stoppable
    const received = exchange((socket) => {
      socket.write(
        `POST /api/v1/agents/admission/block-all HTTP/1.1\r\nHost: test\r\nAuthorization: ${operator.authorization}\r\n\r\n` +
          "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer agent-key\r\n" +
          "Transfer-Encoding: chunked\r\n\r\n1\r\n{",
      )
      const goOn = Effect.sync(() => {
        socket.write("malformed", () => setImmediate(() => Deferred.doneUnsafe(answer, Effect.void)))
      })
      Effect.runFork(Effect.andThen(Deferred.await(asked), goOn))
    })
    const text = yield* Effect.provideContext<HttpServer.HttpServer>(context)(received)
    assert.deepStrictEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 400"])
  }),
)

it.live("a request behind another waits for its answer, and one to connect to somewhere else too", () =>
  Effect.gen(function* () {
    const { answer, begun, context } = yield* stoppable
    const onServer = Effect.provideContext<HttpServer.HttpServer>(context)
    const blockAll =
      "POST /api/v1/agents/admission/block-all HTTP/1.1\r\nHost: test\r\n" +
      `Authorization: ${operator.authorization}\r\n\r\n`
    const received = yield* Effect.forkChild(
      onServer(
        exchange((socket) =>
          socket.write(`${blockAll.repeat(20)}CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n`),
        ),
      ),
    )
    yield* until(() => begun() > 0)
    assert.strictEqual((yield* onServer(send("GET", "/api/v1/health"))).status, 200)
    assert.strictEqual(begun(), 1)
    yield* Deferred.succeed(answer, undefined)
    const statuses = (yield* Fiber.join(received)).match(/(?<=HTTP\/1\.1 )\d+/g)
    assert.deepStrictEqual(statuses, [...Array.from({ length: 20 }, () => "200"), "404"])
  }),
)

it.live("of a thousand requests in one read, few are made before the first is answered", () =>
  Effect.gen(function* () {
    const { answer, begun, context } = yield* stoppable
    const onServer = Effect.provideContext<HttpServer.HttpServer>(context)
    let made = 0
    const count = (): void => void (made += 1)
    subscribe("http.server.request.start", count)
    const health = "GET /api/v1/health HTTP/1.1\r\nHost: a\r\n"
    const received = yield* Effect.forkChild(
      onServer(
        exchange((socket) =>
          socket.write(
            "POST /api/v1/agents/admission/block-all HTTP/1.1\r\nHost: test\r\n" +
              `Authorization: ${operator.authorization}\r\n\r\n` +
              `${`${health}\r\n`.repeat(1_000)}${health}Connection: close\r\n\r\n`,
          ),
        ),
      ),
    )
    yield* until(() => begun() > 0)
    assert.strictEqual((yield* onServer(send("GET", "/api/v1/health"))).status, 200)
    assert.isBelow(made, 50)
    yield* Deferred.succeed(answer, undefined)
    assert.lengthOf((yield* Fiber.join(received)).match(/HTTP\/1\.1 200/g) ?? [], 1_002)
    unsubscribe("http.server.request.start", count)
  }),
)

it.live("a client that asks to connect to somewhere else and resets its connection ends no server", () =>
  Effect.gen(function* () {
    const { answer, begun, context } = yield* stoppable
    const onServer = Effect.provideContext<HttpServer.HttpServer>(context)
    yield* onServer(
      exchange((socket) => {
        socket.write(
          "POST /api/v1/agents/admission/block-all HTTP/1.1\r\nHost: test\r\n" +
            `Authorization: ${operator.authorization}\r\n\r\n` +
            "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
        )
        Effect.runFork(
          Effect.andThen(
            until(() => begun() > 0),
            Effect.sync(() => socket.resetAndDestroy()),
          ),
        )
      }),
    )
    yield* Deferred.succeed(answer, undefined)
    assert.strictEqual((yield* onServer(send("GET", "/api/v1/health"))).status, 200)
  }),
)

it.live("a request that comes before the routes are built is answered once they are", () =>
  Effect.gen(function* () {
    const options = { operatorTokens: [] }
    const listening = NodeServer.layer({ host: "127.0.0.1", port: 0 }, AgentFront.make(options)).pipe(
      Layer.provide([Intake.layer, FailureLog.layer]),
      Layer.provide(stubServices({})),
    )
    const context = yield* Layer.build(listening)
    const onServer = Effect.provideContext<HttpServer.HttpServer>(context)
    const early = yield* Effect.forkChild(onServer(send("GET", "/api/v1/health")), { startImmediately: true })
    // The server answers this without routes, after it has read what came before.
    assert.match(yield* onServer(exchange((socket) => socket.write("hello\r\n\r\n"))), /^HTTP\/1.1 400/)
    assert.isUndefined(early.pollUnsafe())
    const routes = HttpServer.serve(Effect.succeed(HttpServerResponse.empty({ status: 204 })))
    yield* Effect.provideContext(Layer.build(routes), context)
    assert.strictEqual((yield* Fiber.join(early)).status, 204)
  }).pipe(Effect.scoped),
)

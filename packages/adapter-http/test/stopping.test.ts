import { connect, type Socket } from "node:net"
import { assert, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpServer } from "effect/http"
import { heartbeat } from "./http.ts"
import { testServer } from "./TestServer.ts"
import { until } from "./until.ts"

const CLIENTS = 40
const body = JSON.stringify(heartbeat)

const requests = {
  "of agents":
    "POST /api/v1/heartbeat HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer agent-key\r\n" +
    `Content-Length: ${body.length}\r\n\r\n${body}`,
  "of others": "GET /api/v1/health HTTP/1.1\r\nHost: test\r\nX-Padding: so that half of it is a part\r\n\r\n",
}

/** A server, and how to stop it. */
const stoppable = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const drained = yield* Deferred.make<void>()
  let isDraining = false
  const readiness = {
    isDraining: () => isDraining,
    drain: Effect.suspend(() => {
      isDraining = true
      return Deferred.succeed(drained, undefined)
    }),
  }
  const ingest = { heartbeat: () => Effect.succeed({ accepted: true }) }
  const context = yield* Layer.buildWithScope(testServer({ ingest, readiness }), scope)
  const { address } = Context.get(context, HttpServer.HttpServer)
  return {
    port: "port" in address ? address.port : 0,
    drained: Deferred.await(drained),
    stop: Scope.close(scope, Exit.void),
  }
})

/** A client, and what has become of its connection. */
const client = (port: number) => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true })
  const seen = { received: "", isReset: false, isClosed: false }
  socket.on("data", (part: Buffer) => (seen.received += part.toString("latin1")))
  socket.on("error", () => (seen.isReset = true))
  socket.on("close", () => (seen.isClosed = true))
  return { socket, seen, answers: () => seen.received.split("HTTP/1.1 2").length - 1 }
}
type Client = ReturnType<typeof client>

const clients = (port: number) => Array.from({ length: CLIENTS }, () => client(port))

const onAll = (all: ReadonlyArray<Client>, act: (socket: Socket) => unknown): void => {
  for (const { socket } of all) act(socket)
}

const outcomes = (all: ReadonlyArray<Client>, answers: number) =>
  all.filter((each) => each.answers() === answers && !each.seen.isReset).length

it.live.each(Object.entries(requests))(
  "requests %s that have arrived when a server stops are answered, on connections new and old",
  ([, request]) =>
    Effect.gen(function* () {
      const { port, stop } = yield* stoppable
      const old = clients(port)
      onAll(old, (socket) => socket.write(request))
      yield* until(() => old.every((each) => each.answers() === 1))
      // In one turn of the event loop: the server has seen nothing of it when it is told to stop.
      const fresh = clients(port)
      onAll([...old, ...fresh], (socket) => socket.write(request))
      yield* stop
      yield* until(() => [...old, ...fresh].every(({ seen }) => seen.isClosed))
      assert.deepStrictEqual([outcomes(old, 2), outcomes(fresh, 1)], [CLIENTS, CLIENTS])
      for (const { seen } of fresh) assert.match(seen.received, /\r\nconnection: close\r\n/i)
    }),
  // On a busy machine the system delivers some late: those have not arrived when the server stops.
  { retry: 2 },
)

it.live.each(Object.entries(requests))(
  "requests %s that are half sent when a server stops may be finished",
  ([, request]) =>
    Effect.gen(function* () {
      const { port, stop, drained } = yield* stoppable
      const half = Math.floor(request.length / 2)
      const old = clients(port)
      onAll(old, (socket) => socket.write(request))
      yield* until(() => old.every((each) => each.answers() === 1))
      onAll(old, (socket) => socket.write(request.slice(0, half)))
      const stopping = yield* Effect.forkChild(stop)
      yield* drained
      // Nobody is accepted any more.
      const late = client(port)
      yield* until(() => late.seen.isClosed)
      onAll(old, (socket) => socket.write(request.slice(half)))
      yield* until(() => old.every(({ seen }) => seen.isClosed))
      assert.strictEqual(outcomes(old, 2), CLIENTS)
      yield* Fiber.join(stopping)
    }),
)

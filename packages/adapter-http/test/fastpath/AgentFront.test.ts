import { connect, createServer, type Socket } from "node:net"
import { assert, it } from "@effect/vitest"
import type { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { Effect, Layer, Redacted } from "effect"
import { type AgentFront, make } from "../../src/fastpath/AgentFront.ts"
import { AgentIntake, Intake } from "../../src/request/Intake.ts"
import { heartbeat } from "../http.ts"
import { stubServices, UI_TOKEN, unlimitedBodies } from "../TestServer.ts"
import { until } from "../until.ts"

/** A gate that every heartbeat's use case passes. */
const newGate = () => {
  let isOpen = true
  let begun = 0
  let interrupted = 0
  const waiting: Array<() => void> = []
  const pass = Effect.suspend(() => {
    begun += 1
    return isOpen
      ? Effect.void
      : Effect.callback<void>((resume) => void waiting.push(() => resume(Effect.void)))
  }).pipe(Effect.onInterrupt(() => Effect.sync(() => (interrupted += 1))))
  return {
    pass,
    begun: () => begun,
    interrupted: () => interrupted,
    close: () => {
      isOpen = false
    },
    open: () => {
      isOpen = true
      for (const resume of waiting.splice(0)) resume()
    },
  }
}

const body = JSON.stringify(heartbeat)
const request = (...lines: ReadonlyArray<string>): string =>
  [
    "POST /api/v1/heartbeat HTTP/1.1",
    "Host: tocsin",
    "Authorization: Bearer agent-key",
    `Content-Length: ${body.length}`,
    ...lines,
    "",
    body,
  ].join("\r\n")

/** A server of connections with a front, and what was handed over to whoever is behind it. */
const served = Effect.fnUntraced(function* (
  limits = { firstMillis: 10_000, idleMillis: 10_000 },
  intakeBytes = 1_000_000,
  bodies = unlimitedBodies,
  beat: Ingest["Service"]["beat"] = undefined,
) {
  const gate = newGate()
  let isDraining = false
  const ingest = { heartbeat: () => Effect.as(gate.pass, { accepted: true }), bodies, beat }
  const readiness = { isDraining: () => isDraining }
  const context = yield* Layer.build(stubServices({ ingest, readiness }))
  const front = yield* make({ operatorTokens: [Redacted.make(UI_TOKEN)] }).pipe(
    Effect.provideContext(context),
    Effect.provideService(AgentIntake, new Intake({ bytes: intakeBytes, turnMillis: 1_000 })),
  )
  const handed: Array<string> = []
  const remaining: Array<number | undefined> = []
  const timeouts: Array<number | undefined> = []
  const handOver = (socket: Socket, remainingMillis: number | undefined): void => {
    remaining.push(remainingMillis)
    timeouts.push(socket.timeout)
    handed.push("")
    const index = handed.length - 1
    socket.on("data", (part: Buffer) => (handed[index] += part.toString("latin1")))
    socket.on("end", () => socket.end())
    socket.on("error", () => {})
  }
  /** Actions for the next arrivals. */
  const onArrival: Array<() => void> = []
  const behind = {
    firstMillis: () => limits.firstMillis,
    idleMillis: limits.idleMillis,
    keepAliveSeconds: 65,
    handOver,
    onArrival: () => onArrival.shift()?.(),
    refuseSlow: (socket: Socket) => void socket.end("too slow"),
  }
  /** The server's ends of connections. */
  const accepted: Array<Socket> = []
  const port = yield* listening(front, behind, accepted)
  const drain = () => {
    isDraining = true
  }
  return { gate, front, handed, remaining, timeouts, accepted, onArrival, port, drain }
})

const listening = (front: AgentFront, behind: Parameters<AgentFront["take"]>[1], accepted: Array<Socket>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
          front.take(socket, behind)
          accepted.push(socket)
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          front.closeAll()
        }),
    ),
    (server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    },
  )

/** A client, and what it has seen. */
const client = Effect.fnUntraced(function* (port: number) {
  let received = ""
  let isClosed = false
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true })),
    (made) => Effect.sync(() => made.destroy()),
  )
  socket.on("data", (part: Buffer) => {
    received += part.toString("latin1")
  })
  socket.on("end", () => socket.end())
  socket.on("error", () => {})
  socket.on("close", () => {
    isClosed = true
  })
  return {
    socket,
    received: () => received,
    isClosed: () => isClosed,
    answers: () => received.split(/HTTP\/1\.1 20[02] /u).length - 1,
  }
})

/** So many turns that what could happen has happened. */
const turns = Effect.callback<void>((resume) => {
  let left = 50
  const turn = (): void => {
    left -= 1
    if (left === 0) resume(Effect.void)
    else setImmediate(turn)
  }
  turn()
})

it.live("a connection is answered request by request", () =>
  Effect.gen(function* () {
    const { port, handed } = yield* served()
    const { socket, ...seen } = yield* client(port)
    for (const count of [1, 2, 3]) {
      socket.write(request())
      yield* until(() => seen.answers() === count)
    }
    const tail = '\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\n{"accepted":true}'
    assert.isTrue(seen.received().endsWith(tail), seen.received())
    assert.deepStrictEqual(handed, [])
  }).pipe(Effect.scoped),
)

it.live("the front hands over an unusual or partial request as it came, with all that follows", () =>
  Effect.gen(function* () {
    const { port, handed } = yield* served()
    const odd = [
      "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      request().slice(0, -1),
      request().slice(0, 20),
      request() + request(),
      request("Connection: close"),
      request("X-Long: ".padEnd(9_000, "x")),
    ]
    for (const text of odd) {
      const { socket, answers } = yield* client(port)
      socket.write(request())
      yield* until(() => answers() === 1)
      const before = handed.length
      socket.write(text)
      yield* until(() => handed[before] === text)
      socket.write(request())
      yield* until(() => handed[before] === text + request())
      assert.strictEqual(answers(), 1)
    }
  }).pipe(Effect.scoped),
)

/** Room for one request, and no more. */
const ONE_REQUEST = 4_096 + body.length

it.live("the room of a request is there again after its answer", () =>
  Effect.gen(function* () {
    const { port, handed } = yield* served(undefined, ONE_REQUEST)
    const { socket, answers } = yield* client(port)
    for (const count of [1, 2, 3]) {
      socket.write(request())
      yield* until(() => answers() === count)
    }
    assert.deepStrictEqual(handed, [])
  }).pipe(Effect.scoped),
)

it.live("the room of a request is there again where its sender has used up the budget", () =>
  Effect.gen(function* () {
    let isUsedUp = true
    const { tryEnter, ...others } = unlimitedBodies
    const bodies = {
      ...others,
      tryEnter: (...given: Parameters<typeof tryEnter>) => (isUsedUp ? undefined : tryEnter(...given)),
    }
    const { port, handed } = yield* served(undefined, ONE_REQUEST, bodies)
    const first = yield* client(port)
    first.socket.write(request())
    yield* until(() => handed[0] === request())
    isUsedUp = false
    const next = yield* client(port)
    next.socket.write(request())
    yield* until(() => next.answers() === 1 || handed.length > 1)
    assert.lengthOf(handed, 1)
  }).pipe(Effect.scoped),
)

it.live("the room of a request is there again when its client goes away during the work", () =>
  Effect.gen(function* () {
    const { port, gate, handed } = yield* served(undefined, ONE_REQUEST)
    gate.close()
    const gone = yield* client(port)
    gone.socket.write(request())
    yield* until(() => gate.begun() === 1)
    gone.socket.destroy()
    yield* until(() => gate.interrupted() === 1)
    gate.open()
    const next = yield* client(port)
    next.socket.write(request())
    yield* until(() => next.answers() === 1 || handed.length > 0)
    assert.deepStrictEqual(handed, [])
  }).pipe(Effect.scoped),
)

it.live("a connection is handed over with what is left of the time to its first request", () =>
  Effect.gen(function* () {
    const { port, remaining, timeouts } = yield* served()
    const first = yield* client(port)
    first.socket.write("GET")
    yield* until(() => remaining.length === 1)
    const later = yield* client(port)
    later.socket.write(request())
    yield* until(() => later.answers() === 1)
    later.socket.write("GET")
    yield* until(() => remaining.length === 2)
    const [left = 0, none] = remaining
    assert.isTrue(left > 0 && left < 10_000)
    assert.isUndefined(none)
    // Or the connection would be closed under whoever has it now.
    assert.deepStrictEqual(timeouts, [0, 0])
  }).pipe(Effect.scoped),
)

it.live("a request that comes before the answer to the last one waits for it", () =>
  Effect.gen(function* () {
    const { port, gate, handed } = yield* served()
    gate.close()
    const { socket, answers } = yield* client(port)
    socket.write(request())
    yield* until(() => gate.begun() === 1)
    yield* Effect.callback<void>((resume) => void socket.write(request(), () => resume(Effect.void)))
    yield* turns
    assert.deepStrictEqual([gate.begun(), answers()], [1, 0])
    gate.open()
    yield* until(() => answers() === 2)
    assert.deepStrictEqual(handed, [])
  }).pipe(Effect.scoped),
)

it.live("a client that does not read its answers is not read either", () =>
  Effect.gen(function* () {
    const { port, accepted, handed } = yield* served()
    const { socket, answers } = yield* client(port)
    const ask = request()
    socket.write(ask)
    yield* until(() => answers() === 1)
    const [server] = accepted
    assert(server)
    // As when the buffers of the system are full: answers are small, and those hold thousands.
    server.cork()
    let sent = 1
    for (; !server.isPaused(); sent += 1) {
      const waiting = server.writableLength
      socket.write(ask)
      yield* until(() => server.writableLength > waiting)
    }
    assert.isBelow(server.writableLength, 131_072)
    server.uncork()
    yield* until(() => answers() === sent)
    assert.deepStrictEqual(handed, [])
  }).pipe(Effect.scoped),
)

it.live("a client that goes away is not waited for", () =>
  Effect.gen(function* () {
    const { port, gate } = yield* served()
    gate.close()
    const leave: ReadonlyArray<(socket: Socket) => unknown> = [
      (socket) => socket.destroy(),
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end(),
    ]
    for (const [index, go] of leave.entries()) {
      const { socket } = yield* client(port)
      socket.write(request())
      yield* until(() => gate.begun() === index + 1)
      go(socket)
      yield* until(() => gate.interrupted() === index + 1)
    }
  }).pipe(Effect.scoped),
)

it.live("a client that sends no more after its request still gets an answer that is there", () =>
  Effect.gen(function* () {
    const { port } = yield* served()
    const { socket, answers, isClosed } = yield* client(port)
    socket.end(request())
    yield* until(isClosed)
    assert.strictEqual(answers(), 1)
  }).pipe(Effect.scoped),
)

it.live("a connection on which nothing comes is refused, and one that is idle closed", () =>
  Effect.gen(function* () {
    const limits = { firstMillis: 20, idleMillis: 20 }
    const { port } = yield* served(limits)
    const silent = yield* client(port)
    yield* until(silent.isClosed)
    assert.strictEqual(silent.received(), "too slow")
    limits.firstMillis = 10_000
    const idle = yield* client(port)
    idle.socket.write(request())
    yield* until(idle.isClosed)
    assert.isTrue(idle.received().endsWith('{"accepted":true}'))
  }).pipe(Effect.scoped),
)

it.live("the time to the first request ends with it, and that between requests begins", () =>
  Effect.gen(function* () {
    const { port, accepted } = yield* served({ firstMillis: 10_000, idleMillis: 20_000 })
    const { socket, answers } = yield* client(port)
    yield* until(() => accepted.length === 1)
    assert.strictEqual(accepted[0]?.timeout, 10_000)
    socket.write(request())
    yield* until(() => answers() === 1)
    assert.strictEqual(accepted[0]?.timeout, 20_000)
  }).pipe(Effect.scoped),
)

it.live("no time runs out while a request is at work", () =>
  Effect.gen(function* () {
    const limits = { firstMillis: 10_000, idleMillis: 20 }
    const { port, gate } = yield* served(limits)
    gate.close()
    const { socket, answers, isClosed } = yield* client(port)
    socket.write(request())
    yield* until(() => gate.begun() === 1)
    limits.firstMillis = 20
    const silent = yield* client(port)
    yield* until(silent.isClosed)
    const later = yield* client(port)
    yield* until(later.isClosed)
    assert.isFalse(isClosed())
    gate.open()
    yield* until(() => answers() === 1)
    yield* until(isClosed)
  }).pipe(Effect.scoped),
)

it.live("a server that stops closes connections without a request, and the others after their answers", () =>
  Effect.gen(function* () {
    const { port, gate, front, drain } = yield* served()
    const idle = yield* client(port)
    idle.socket.write(request())
    yield* until(() => idle.answers() === 1)
    gate.close()
    const busy = yield* client(port)
    busy.socket.write(request())
    yield* until(() => gate.begun() === 2)
    drain()
    front.closeIdle()
    yield* until(idle.isClosed)
    assert.isFalse(busy.isClosed())
    gate.open()
    yield* until(busy.isClosed)
    assert.match(busy.received(), /^HTTP\/1\.1 202 Accepted\r\n.*\r\nconnection: close\r\n/s)
  }).pipe(Effect.scoped),
)

it.live("a server that stops does not close a connection that is about to be handed over", () =>
  Effect.gen(function* () {
    const { port, front, handed, onArrival } = yield* served()
    onArrival.push(() => setImmediate(() => front.closeIdle()))
    const { socket, isClosed } = yield* client(port)
    socket.write("GET")
    yield* until(() => handed.includes("GET") || isClosed())
    assert.deepStrictEqual(handed, ["GET"])
  }).pipe(Effect.scoped),
)

it.live("a connection that comes after all were closed is closed at once", () =>
  Effect.gen(function* () {
    const { port, gate, front } = yield* served()
    front.closeAll()
    const late = yield* client(port)
    late.socket.write(request())
    yield* until(late.isClosed)
    assert.strictEqual(gate.begun(), 0)
    assert.strictEqual(late.received(), "")
  }).pipe(Effect.scoped),
)

it.live("a heartbeat without a fiber is answered, and withdrawn with its client or at the end", () =>
  Effect.gen(function* () {
    const waiting: Array<() => void> = []
    let withdrawn = 0
    const beat: Ingest["Service"]["beat"] = (_key, _request, _source, resume) => {
      waiting.push(() => resume(Effect.succeed({ accepted: true })))
      return () => {
        withdrawn += 1
      }
    }
    const { port, front, gate } = yield* served(undefined, undefined, undefined, beat)
    const open = Effect.fnUntraced(function* () {
      const made = yield* client(port)
      // The first one is learned; the next one repeats it.
      made.socket.write(request())
      yield* until(() => made.answers() === 1)
      const before = waiting.length
      made.socket.write(request())
      yield* until(() => waiting.length === before + 1)
      return made
    })
    const answered = yield* open()
    waiting[0]?.()
    yield* until(() => answered.answers() === 2)
    const leaving = yield* open()
    leaving.socket.destroy()
    yield* until(() => withdrawn === 1)
    // It was under way: its answer comes too late.
    waiting[1]?.()
    const left = yield* open()
    yield* front.interrupt
    yield* until(left.isClosed)
    assert.deepStrictEqual([withdrawn, gate.begun()], [2, 3])
  }).pipe(Effect.scoped),
)

import type { Socket } from "node:net"
import { assert } from "@effect/vitest"
import type { IntakeLimits } from "@tocsin/adapter-http/request/Intake"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Fiber, Latch } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call } from "../client/call.ts"
import { exchange, requestText, statusesOf } from "../client/exchange.ts"
import { heartbeatBody, newAgent, type TestAgent } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { nodeServer } from "../service/nodeServer.ts"

const KIB = 1024
const READ_BYTES = 64 * KIB

/** A storage that decides nothing while it is held, and how many commands it was given. */
const heldStorage = () => {
  const latch = Latch.makeUnsafe(true)
  const told = { commands: 0 }
  const spoil = (storage: Storage["Service"]): Storage["Service"] => ({
    ...storage,
    transact: (command) =>
      Effect.suspend(() => {
        told.commands += 1
        return Effect.andThen(latch.await, storage.transact(command))
      }),
  })
  return { spoil, told, hold: latch.close, release: latch.open }
}

const head = ({ key }: TestAgent, headers: Readonly<Record<string, string>>): string =>
  requestText("POST /api/v1/heartbeat", { Authorization: `Bearer ${key}`, Connection: "close", ...headers })

const bodyOf = (agent: TestAgent, bytes: number): string =>
  JSON.stringify(heartbeatBody(agent)).padEnd(bytes, " ")

/** A heartbeat of a new agent: its head, and a body of a given size. */
const parts = (bytes: number, headers: Readonly<Record<string, string>> = {}): readonly [string, string] => {
  const agent = newAgent()
  return [head(agent, { "Content-Length": String(bytes), ...headers }), bodyOf(agent, bytes)]
}

const whole = (bytes: number): string => parts(bytes).join("")

const chunked = (bytes: number): string => {
  const agent = newAgent()
  const chunks = `${bytes.toString(16)}\r\n${bodyOf(agent, bytes)}\r\n0\r\n\r\n`
  return head(agent, { "Transfer-Encoding": "chunked" }) + chunks
}

/** The connections that the server has from now on, and how much it has read of them all. */
const connectionsOf = Effect.gen(function* () {
  const server = yield* nodeServer
  const sockets: Array<Socket> = []
  server.on("connection", (socket) => sockets.push(socket))
  return { sockets, bytesRead: () => sockets.reduce((total, { bytesRead }) => total + bytesRead, 0) }
})

/**
 * Requests the service's health, which never waits, often enough that any other effect has
 * happened.
 */
const meanwhile = Effect.forEach(
  Array.from({ length: 40 }),
  () => Effect.map(call("GET", "/api/v1/health"), ({ status }) => assert.strictEqual(status, 200)),
  { discard: true },
)

const until = Effect.fnUntraced(function* (condition: () => boolean) {
  while (!condition()) yield* call("GET", "/api/v1/health")
})

const inFlight = (texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) => Effect.forkChild(exchange(text)))

const assertAllTaken = Effect.fnUntraced(function* (
  fibers: ReadonlyArray<Fiber.Fiber<{ readonly text: string }>>,
) {
  for (const { text } of yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber)))
    assert.match(text, /^HTTP\/1\.1 202 /)
})

/**
 * More requests of agents than the service can hold at a time: it reads no further until some are
 * answered.
 */
export const backPressureSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  const withLimits = (
    name: string,
    intake: IntakeLimits,
    run: (storage: ReturnType<typeof heldStorage>) => Parameters<typeof scenario>[1],
  ) => {
    const storage = heldStorage()
    scenario(name, run(storage), { intake, spoil: storage.spoil, storageTimeout: "30 seconds" })
  }

  const patient = { turnMillis: 20_000 }
  const CLIENTS = 24
  const BODY = 512 * KIB

  for (const [kind, request, places] of [
    ["with a length", whole, 8],
    ["in chunks", chunked, 4],
  ] as const) {
    withLimits(
      `large bodies ${kind} are not read before there is room`,
      { bytes: 4_200 * KIB, ...patient },
      (storage) =>
        Effect.fnUntraced(function* () {
          const { sockets, bytesRead } = yield* connectionsOf
          yield* storage.hold
          const fibers = yield* inFlight(Array.from({ length: CLIENTS }, () => request(BODY)))
          yield* until(() => storage.told.commands === places)
          yield* meanwhile
          assert.isAtLeast(sockets.length, CLIENTS)
          assert.strictEqual(storage.told.commands, places)
          // Of the other bodies, only the bytes that arrived with their headers.
          assert.isBelow(bytesRead(), places * BODY + CLIENTS * 2 * READ_BYTES)
          yield* storage.release
          yield* assertAllTaken(fibers)
          assert.strictEqual(storage.told.commands, CLIENTS)
        }),
    )
  }

  withLimits(
    "small requests wait, too, and those that go away are forgotten",
    { bytes: 100 * KIB, ...patient },
    (storage) =>
      Effect.fnUntraced(function* () {
        yield* storage.hold
        const fibers = yield* inFlight(Array.from({ length: 80 }, () => whole(250)))
        yield* until(() => storage.told.commands > 0)
        yield* meanwhile
        const { commands } = storage.told
        assert.isBelow(commands, 25)
        const [leaving, staying] = [fibers.slice(0, 60), fibers.slice(60)]
        yield* Effect.forEach(leaving, (fiber) => Fiber.interrupt(fiber))
        // Places of clients that are gone are given to those that wait.
        yield* until(() => storage.told.commands >= staying.length)
        yield* storage.release
        yield* assertAllTaken(staying)
      }),
  )

  withLimits(
    "a body that is too large is refused at once, however many wait",
    { bytes: 20 * KIB, ...patient },
    (storage) =>
      Effect.fnUntraced(function* () {
        yield* storage.hold
        const fibers = yield* inFlight(Array.from({ length: 20 }, () => whole(250)))
        yield* until(() => storage.told.commands > 0)
        const [start] = parts(2 * 1_024 * KIB)
        assert.deepStrictEqual(statusesOf(yield* exchange(start)), [413])
        yield* storage.release
        yield* assertAllTaken(fibers)
      }),
  )

  withLimits(
    "one connection with many requests is read as slowly as they are answered",
    { bytes: 100 * KIB, ...patient },
    (storage) =>
      Effect.fnUntraced(function* () {
        const { bytesRead } = yield* connectionsOf
        const MANY = 1_000
        const one = parts(250, { Connection: "keep-alive" }).join("")
        const last = whole(250)
        yield* storage.hold
        const fiber = yield* Effect.forkChild(exchange(one.repeat(MANY) + last))
        yield* until(() => storage.told.commands > 0)
        yield* meanwhile
        assert.isBelow(storage.told.commands, 25)
        assert.isBelow(bytesRead(), 4 * READ_BYTES)
        yield* storage.release
        const statuses = statusesOf(yield* Fiber.join(fiber))
        assert.strictEqual(statuses.length, MANY + 1)
        assert.deepStrictEqual(new Set(statuses), new Set([202]))
      }),
  )

  withLimits(
    "bodies of people that sign in are not read before there is room, in the share of their address",
    { bytes: 4_200 * KIB, ...patient },
    () =>
      Effect.fnUntraced(function* () {
        const { sockets, bytesRead } = yield* connectionsOf
        const head = `POST /ops/v1/session HTTP/1.1\r\nHost: slow\r\nContent-Length: ${BODY}\r\n\r\n`
        yield* inFlight(Array.from({ length: CLIENTS }, () => head.padEnd(BODY)))
        yield* until(() => sockets.length >= CLIENTS && bytesRead() > BODY / 2)
        yield* meanwhile
        assert.isBelow(bytesRead(), BODY + CLIENTS * 2 * READ_BYTES)
      }),
  )

  /** The beginnings of requests whose bodies do not end. */
  const slowStarts = {
    "slow bodies of one sender, however many, delay no other sender's": () => {
      const agent = newAgent()
      const body = bodyOf(agent, 1_024 * KIB)
      return head(agent, { "Content-Length": String(body.length) }) + body.slice(1)
    },
    "slow forms with a key inside, however many of one address, delay no other sender's": () =>
      `POST /in/nrdp/ HTTP/1.1\r\nHost: slow\r\nContent-Length: ${1_024 * KIB}\r\n\r\ntoken=`,
  }

  for (const [name, startOf] of Object.entries(slowStarts))
    withLimits(name, { bytes: 4_200 * KIB, ...patient }, () =>
      Effect.fnUntraced(function* () {
        const start = startOf()
        const slow = yield* inFlight(Array.from({ length: 10 }, () => start))
        yield* meanwhile
        const quick = yield* inFlight(Array.from({ length: 20 }, () => whole(250)))
        yield* assertAllTaken(quick)
        yield* Effect.forEach(slow, (fiber) => Fiber.interrupt(fiber))
      }),
    )

  const impatient = { bytes: 1_100 * KIB, turnMillis: 50 }

  for (const sent of [1, 1_000 * KIB]) {
    withLimits(`clients that stop after ${sent} bytes delay no others`, impatient, () =>
      Effect.fnUntraced(function* () {
        const finish: Array<() => void> = []
        const slow = yield* Effect.forEach([1, 2, 3], () =>
          Effect.forkChild(
            exchange((socket) => {
              const [start, body] = parts(1_024 * KIB)
              socket.write(start + body.slice(0, sent))
              finish.push(() => socket.write(body.slice(sent)))
            }),
          ),
        )
        yield* meanwhile
        const quick = yield* inFlight(Array.from({ length: 20 }, () => whole(250)))
        yield* assertAllTaken(quick)
        for (const write of finish) write()
        yield* assertAllTaken(slow)
      }),
    )
  }
}

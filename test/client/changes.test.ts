import { createServer, connect, type Server, type Socket } from "node:net"
import { assert, layer } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { topicNames } from "@tocsin/contract/liveViews/topicNames"
import { createClient, isTocsinClientError, type TocsinClientError } from "@tocsin/client"
import { TocsinClient } from "@tocsin/client/TocsinClient"
import { Effect, Fiber, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { Tocsin } from "../http/service/Tocsin.ts"

/** A proxy between a client and the service. */
interface Between {
  readonly baseUrl: string
  /** How many connections clients have made. */
  readonly connections: () => number
  /** The service is away until it has refused a connection; those that it had break. */
  readonly restart: () => void
}

/** A proxy that can lose the service, or that keeps answers back until they end. */
const openBetween = Effect.fnUntraced(function* ({ isBuffering = false } = {}) {
  const { port } = yield* Tocsin
  const sockets = new Set<Socket>()
  let isAway = false
  let connections = 0
  const pass = (from: Socket): void => {
    connections += 1
    if (isAway) {
      isAway = false
      return void from.destroy()
    }
    const to = connect(port, "127.0.0.1")
    const kept: Array<Buffer> = []
    for (const socket of [from, to]) {
      sockets.add(socket)
      socket
        .on("error", () => undefined)
        .on("close", () => {
          from.destroy()
          to.destroy()
        })
    }
    from.pipe(to)
    if (isBuffering) to.on("data", (chunk) => kept.push(chunk)).on("end", () => from.end(Buffer.concat(kept)))
    else to.pipe(from)
  }
  const server: Server = createServer(pass)
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      }),
  )
  const address = server.address()
  const between: Between = {
    baseUrl: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    connections: () => connections,
    restart: () => {
      isAway = true
      for (const socket of sockets) socket.destroy()
    },
  }
  return between
})

const take = async <A>(items: AsyncGenerator<A, void, undefined>): Promise<A> => {
  const { value } = await items.next()
  return value ?? assert.fail("the changes have ended")
}

layer(Tocsin.layer(MemoryStorage.layer), { excludeTestServices: true })("changes", (it) => {
  it.effect("name every topic at first, what changes, and every topic again after a restart", () =>
    Effect.gen(function* () {
      const { uiToken } = yield* Tocsin
      const { baseUrl, connections, restart } = yield* openBetween()
      const client = createClient({ baseUrl, token: uiToken })
      yield* Effect.promise(async () => {
        const controller = new AbortController()
        const changes = client.changes({ signal: controller.signal })
        assert.deepStrictEqual((await take(changes)).topics, topicNames)
        await client.operators.create({ name: "ann", role: "read" })
        const { at, topics } = await take(changes)
        assert.deepStrictEqual(topics, ["operators", "audit"])
        assert.match(at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)

        const before = connections()
        restart()
        assert.deepStrictEqual((await take(changes)).topics, topicNames)
        assert.isAtLeast(connections() - before, 2)
        const waiting = changes.next().catch((error: unknown) => error)
        const reason = new Error("the page was left")
        controller.abort(reason)
        assert.strictEqual(await waiting, reason)
      })
    }),
  )

  it.effect("name every topic again and again where a proxy keeps the stream back", () =>
    Effect.gen(function* () {
      const { uiToken } = yield* Tocsin
      const { baseUrl, connections } = yield* openBetween({ isBuffering: true })
      const client = TocsinClient.layer({ baseUrl, token: uiToken }).pipe(
        Layer.provide(FetchHttpClient.layer),
      )
      const taken = yield* Effect.gen(function* () {
        const { changes } = yield* TocsinClient
        const taking = yield* Effect.forkChild(Stream.runCollect(Stream.take(changes(), 2)))
        while (taking.pollUnsafe() === undefined) {
          yield* TestClock.adjust("1 second")
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        }
        return yield* Fiber.join(taking)
      }).pipe(Effect.provide(client), Effect.provide(TestClock.layer()))
      for (const { topics } of taken) assert.deepStrictEqual(topics, topicNames)
      assert.isAtLeast(connections(), 2)
    }),
  )

  it.effect("are soon asked for again after a stream that worked, however often they failed before", () =>
    Effect.gen(function* () {
      let calls = 0
      const fetch = () => {
        calls += 1
        const headers = { "content-type": "text/event-stream" }
        return Promise.resolve(
          calls === 6 ? new Response(": open\n\n", { headers }) : new Response("", { status: 503 }),
        )
      }
      const client = TocsinClient.layer({ baseUrl: "http://127.0.0.1:9", token: "t" }).pipe(
        Layer.provide(FetchHttpClient.layer),
        Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)),
      )
      yield* Effect.gen(function* () {
        const { changes } = yield* TocsinClient
        yield* Effect.forkChild(Stream.runDrain(changes()))
        const turns = Effect.promise(async () => {
          for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setImmediate(resolve))
        })
        yield* turns
        while (calls < 6) yield* Effect.andThen(TestClock.adjust("1 second"), turns)
        yield* turns
        yield* Effect.andThen(TestClock.adjust("1 second"), turns)
        assert.isAtLeast(calls, 7)
      }).pipe(Effect.provide(client), Effect.provide(TestClock.layer()))
    }),
  )

  it.effect("name every topic where a newer service names one that this version lacks", () =>
    Effect.promise(async () => {
      const event = { topics: ["incidents", "weather"], at: "2026-01-31T08:30:00.000Z" }
      const body = `: open\n\ndata: ${JSON.stringify(event)}\n\n`
      const headers = { "content-type": "text/event-stream" }
      const client = createClient({
        baseUrl: "http://127.0.0.1:9",
        token: "t",
        fetch: () => Promise.resolve(new Response(body, { headers })),
      })
      const changes = client.changes()
      await take(changes)
      assert.deepStrictEqual(await take(changes), { topics: topicNames, at: event.at })
    }),
  )

  it.effect("fail where the token is not accepted", () =>
    Effect.gen(function* () {
      const { port } = yield* Tocsin
      const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token: "wrong" })
      const error = yield* Effect.promise(() =>
        client
          .changes()
          .next()
          .catch((reason: unknown) => reason),
      )
      assert.isTrue(isTocsinClientError(error))
      assert.strictEqual((error as TocsinClientError).code, "unauthorized")
    }),
  )
})

import { assert, describe, it } from "@effect/vitest"
import { createServer, type Server } from "node:http"
import { Effect, type Scope } from "effect"
import { expectedBody } from "../src/load/Expectation.ts"
import { LatencyHistogram } from "../src/load/LatencyHistogram.ts"
import type { Load, Step } from "../src/load/Load.ts"
import { LoadGenerator } from "../src/load/LoadGenerator.ts"
import type { LoadResult } from "../src/load/LoadRun.ts"
import type { Protocol } from "../src/load/protocols/Protocol.ts"
import { protocols } from "../src/load/protocols/protocols.ts"
import { Sender } from "../src/load/Sender.ts"

interface Heartbeat {
  readonly agent_id: string
  readonly observed_at: string
}

interface Batch {
  readonly agent_id: string
  readonly events: ReadonlyArray<{
    readonly event_id: string
    readonly observed_at: string
    readonly status: string
  }>
}

interface Received {
  readonly port: number
  readonly keys: Map<string, Set<string>>
  readonly bodies: Array<Heartbeat | Batch>
}

const isBatch = (body: Heartbeat | Batch): body is Batch => "events" in body

const listen = (server: Server) =>
  Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** A server that keeps what it is sent, and answers a batch with `answer`. */
const receiver = (answer: string): Effect.Effect<Received, never, Scope.Scope> => {
  const received = { keys: new Map<string, Set<string>>(), bodies: new Array<Heartbeat | Batch>() }
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (chunk: Buffer) => (text += chunk.toString()))
    request.on("end", () => {
      const body: Heartbeat | Batch = JSON.parse(text)
      received.bodies.push(body)
      const keys = received.keys.get(body.agent_id) ?? new Set()
      received.keys.set(body.agent_id, keys.add(request.headers.authorization ?? ""))
      const reply = isBatch(body) ? answer : expectedBody("heartbeat")
      response.writeHead(202, { "content-length": reply.length }).end(reply)
    })
  })
  return Effect.acquireRelease(listen(server), () => Effect.sync(() => void server.close())).pipe(
    Effect.map((port) => ({ port, ...received })),
  )
}

const KEYS = ["a", "b", "c", "d"].map((letter) => letter.repeat(43))

const run = (load: Load, port: number, requestsPerSecond?: number): Effect.Effect<LoadResult> =>
  Effect.promise(() =>
    new LoadGenerator(KEYS).run({
      ports: [port],
      load,
      connections: 2,
      warmUpSeconds: 0.02,
      seconds: 0.1,
      watched: {},
      ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    }),
  )

describe("the load generator", () => {
  it.live("sends nothing twice, and each agent's results in the order of their times", () =>
    Effect.gen(function* () {
      const { port, keys, bodies } = yield* receiver(expectedBody("changing"))
      const result = yield* run(["changing"], port)
      assert.strictEqual(result.failures, 0, result.firstFailure)
      assert.isAbove(result.requests, 0)
      assert.strictEqual(result.operations, result.requests * 50)
      const batches = bodies.filter(isBatch)
      const events = batches.flatMap((batch) =>
        batch.events.map((event) => `${batch.agent_id} ${event.event_id}`),
      )
      assert.strictEqual(new Set(events).size, events.length)
      for (const event of events) {
        assert.match(
          event,
          /^agent-\d{6} [0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        )
      }
      assert.deepStrictEqual(
        [...keys.values()].map((set) => [...set]).sort(),
        KEYS.map((key) => [`Bearer ${key}`]),
      )
      for (const agent of keys.keys()) {
        const own = batches.filter((batch) => batch.agent_id === agent)
        const times = own.map((batch) => batch.events[0]?.observed_at ?? "")
        assert.deepStrictEqual(times, [...new Set(times)].sort())
        const statuses = own.map((batch) => batch.events[0]?.status)
        assert.deepStrictEqual(
          statuses,
          Array.from(own, (_, turn) => (turn % 2 === 0 ? "critical" : "ok")),
        )
      }
    }).pipe(Effect.scoped),
  )

  it.live("times are those of the present", () =>
    Effect.gen(function* () {
      const { port, bodies } = yield* receiver("")
      const before = Date.now()
      yield* run(["heartbeat"], port)
      const times = bodies.flatMap((body) => (isBatch(body) ? [] : [Date.parse(body.observed_at)]))
      assert.isAbove(times.length, 0)
      // A process measures time from its start, which a busy machine notes milliseconds late.
      assert.isAtLeast(Math.min(...times), before - 1_000)
      assert.isAtMost(Math.max(...times), Date.now() + 1_000)
    }).pipe(Effect.scoped),
  )

  it.live("a batch that was taken for a replay fails the run", () =>
    Effect.gen(function* () {
      const { port } = yield* receiver(expectedBody("unchanged"))
      const { failures, firstFailure = "" } = yield* run(["changing"], port)
      assert.isAbove(failures, 0)
      assert.include(firstFailure, `answered 202 ${expectedBody("unchanged")} instead of`)
    }).pipe(Effect.scoped),
  )

  it.live("paces requests", () =>
    Effect.gen(function* () {
      const { port, bodies } = yield* receiver("")
      yield* run(["heartbeat"], port, 200)
      assert.isAbove(bodies.length, 0)
      assert.isAtMost(bodies.length, 60)
    }).pipe(Effect.scoped),
  )
})

describe("reports of single checks", () => {
  it("take the checks in turn, and change a status only if they are to", () => {
    const sent: Array<string> = []
    const agent = {
      id: Buffer.from("agent-000000"),
      key: Buffer.alloc(0),
      isCritical: false,
      reports: 0,
      changes: 0,
    }
    const protocol: Protocol = {
      ...protocols.icinga,
      render:
        (_step, status) =>
        ({ check }) =>
          Buffer.from(`${check} ${status}`),
    }
    const send = (step: Step, times: number) => {
      const sender = new Sender([step], [agent], protocol, "")
      for (let time = 0; time < times; time += 1) sent.push(sender.next().bytes.toString())
    }
    send("changing", 51)
    send("heartbeat", 2)
    assert.deepStrictEqual(
      [0, 49, 50, 51, 52].map((at) => sent[at]),
      ["000 critical", "049 critical", "000 ok", "000 ok", "001 critical"],
    )
  })
})

describe("latencies", () => {
  it("quantiles are right to a percent", () => {
    const latencies = new LatencyHistogram()
    for (let millis = 1; millis <= 1000; millis += 1) latencies.record(millis)
    assert.strictEqual(latencies.count, 1000)
    assert.approximately(latencies.quantile(0.5), 500, 5)
    assert.approximately(latencies.quantile(0.99), 990, 10)
  })
})

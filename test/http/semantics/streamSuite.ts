import { assert } from "@effect/vitest"
import { topicNames } from "@tocsin/contract/liveViews/topicNames"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Duration, Effect, Fiber, Option, Queue } from "effect"
import { addOperator, call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { type OpenStream, openStream } from "../client/openStream.ts"
import { accept, block, event, heartbeat, pendingAgent, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { until } from "../../processes/until.ts"
import { Tocsin } from "../service/Tocsin.ts"

/** A busy machine takes longer than the two seconds of a stream, which TopicFeed's tests count by their clock. */
const PATIENCE = Duration.seconds(60)
/** A little longer than the time between two events. */
const BETWEEN_EVENTS_TICKS = 11
const MOST_STREAMS = 100

/** The topics of all events until each of these has come. */
const topicsUntil = Effect.fnUntraced(function* ({ events }: OpenStream, ...expected: ReadonlyArray<string>) {
  const seen = new Set<string>()
  const whole = Effect.gen(function* () {
    while (!expected.every((topic) => seen.has(topic))) {
      for (const topic of (yield* Queue.take(events)).topics) seen.add(topic)
    }
  })
  const inTime = yield* Effect.timeoutOption(whole, PATIENCE)
  assert.isTrue(Option.isSome(inTime), `${expected.join()} expected, ${Array.from(seen).join()} seen`)
  return Array.from(seen)
})

/** Waits until the next event may be sent. Time in which this process stood still does not count. */
const nextEvent = Effect.repeat(Effect.sleep("100 millis"), { times: BETWEEN_EVENTS_TICKS })

/** Leaves out what has been announced so far, and waits until the next event may be sent. */
const settle = ({ events }: OpenStream) => Effect.andThen(nextEvent, Queue.clear(events))

/** Live views (docs/rules.md#live-views). */
export const streamSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a stream names what each change concerns, and nothing else", () =>
    Effect.gen(function* () {
      const { readToken } = yield* Tocsin
      const stream = yield* openStream(readToken)
      const { headers } = stream.answer
      assert.match(headers["content-type"] ?? "", /^text\/event-stream/)
      assert.strictEqual(headers["cache-control"], "no-store, no-transform")
      assert.strictEqual(headers["x-accel-buffering"], "no")

      const agent = yield* pendingAgent()
      assert.deepStrictEqual(yield* topicsUntil(stream, "agents"), ["agents"])
      yield* settle(stream)
      yield* accept(agent)
      assert.sameMembers(yield* topicsUntil(stream, "agents", "audit"), ["agents", "audit"])
      yield* settle(stream)
      yield* push(agent, event())
      assert.deepStrictEqual(yield* topicsUntil(stream, "checks"), ["checks"])
      yield* settle(stream)

      yield* heartbeat(agent)
      yield* push(agent, event())
      assert.strictEqual((yield* operate("GET", "/ops/v1/incidents")).status, 200)
      yield* nextEvent
      assert.deepStrictEqual(Queue.sizeUnsafe(stream.events), 0)

      yield* push(agent, event({ status: "critical", exit_code: 2 }))
      const opened = yield* topicsUntil(stream, "checks", "incidents", "outbox")
      assert.sameMembers(opened, ["checks", "incidents", "outbox"])
      yield* settle(stream)
      const { body } = yield* operate("GET", "/api/v1/incidents")
      const [incident] = (body as { readonly items: ReadonlyArray<{ readonly id: string }> }).items
      yield* operate("PUT", `/ops/v1/incidents/${incident?.id}/acknowledgement`, { json: {} })
      assert.includeMembers(yield* topicsUntil(stream, "incidents", "audit"), ["incidents", "audit"])
      yield* settle(stream)
      yield* addOperator("ann", "read")
      assert.sameMembers(yield* topicsUntil(stream, "operators", "audit"), ["operators", "audit"])
      yield* settle(stream)
      yield* block(agent)
      assert.includeMembers(yield* topicsUntil(stream, "blacklist"), ["agents", "blacklist", "audit"])
    }),
  )

  scenario("many changes at once make one event a second, for each of many streams", () =>
    Effect.gen(function* () {
      const { readToken, uiToken } = yield* Tocsin
      const streams = yield* Effect.forEach([readToken, uiToken, readToken], openStream)
      const began = performance.now()
      yield* Effect.forEach(
        Array.from({ length: 60 }, (_, n) => n),
        () => pendingAgent(),
        { concurrency: 10 },
      )
      const first = yield* Effect.forEach(streams, ({ events }) => Queue.take(events))
      yield* Effect.sleep("2500 millis")
      const seconds = (performance.now() - began) / 1_000
      for (const [index, { events }] of streams.entries()) {
        const received = [...first.slice(index, index + 1), ...(yield* Queue.clear(events))]
        assert.isAtMost(received.length, Math.ceil(seconds) + 1)
        for (const { topics, at } of received) {
          assert.includeMembers([...topicNames], [...topics])
          assert.match(at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
        }
      }
    }),
  )

  scenario("a stream needs a token, HEAD opens none, and there are at most 100", () =>
    Effect.gen(function* () {
      const { readToken, uiToken } = yield* Tocsin
      expectError(yield* call("GET", "/ops/v1/stream"), 401, "unauthorized", "without a token")
      for (let n = 0; n < 3; n++) {
        const head = yield* call("HEAD", "/ops/v1/stream", { token: readToken })
        assert.deepStrictEqual([head.status, head.text], [200, ""])
      }
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.forEach(Array.from({ length: MOST_STREAMS }), () => openStream(readToken), {
            concurrency: 20,
          })
          const refused = yield* call("GET", "/ops/v1/stream", { token: uiToken })
          expectError(refused, 429, "rate_limited", "beyond the limit")
          assert.strictEqual((yield* operate("GET", "/ops/v1/me")).status, 200)
        }),
      )
      yield* until(
        "clients that left have given their places back",
        Effect.map(Effect.scoped(openStream(uiToken)), ({ answer }) => answer.statusCode === 200),
      )
    }),
  )
}

/** Tests of a quarter of a minute: they do not depend on the storage. */
export const longStreamSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a comment comes every 15 s, and then a stream whose token is no longer valid ends", () =>
    Effect.gen(function* () {
      const { readToken } = yield* Tocsin
      const token = yield* addOperator("bob", "read")
      const openedAt = performance.now()
      const [kept, revoked] = yield* Effect.all([openStream(readToken), openStream(token)])
      assert.strictEqual((yield* operate("DELETE", "/ops/v1/operators/bob")).status, 200)
      const ending = yield* Effect.forkChild(revoked.ended)
      const commentAt = yield* Queue.take(kept.comments)
      assert.isAtLeast(commentAt - openedAt, 14_000)
      yield* Effect.timeout(Fiber.join(ending), PATIENCE)
      yield* addOperator("cyd", "read")
      yield* topicsUntil(kept, "operators")
    }).pipe(Effect.orDie),
  )
}

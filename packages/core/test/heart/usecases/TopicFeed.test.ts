import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Clock, Context, Effect, Layer, PubSub, Schema, Scope, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import { topicNames } from "@tocsin/contract/liveViews/topicNames"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { OTHER_CHANGES } from "../../../src/kernel/unitOfWork/Table.ts"
import { Commits, type CommitListener } from "../../../src/kernel/engine/commits/Commits.ts"
import { PolicyInForce } from "../../../src/heart/policy/PolicyInForce.ts"
import { Storage } from "../../../src/kernel/ports/Storage.ts"
import { ALL_TOPICS, namesOf, topicsNamed, type Topics } from "../../../src/kernel/topics/Topics.ts"
import { TopicFeed, type UnreadTopics } from "../../../src/heart/usecases/TopicFeed.ts"
import { orderColumns } from "../../../src/lists/ListDefinitions.ts"

/** A feed whose commits and other processes a test plays. */
const played = Effect.gen(function* () {
  const listeners: Array<CommitListener> = []
  const others = yield* PubSub.unbounded<Topics>()
  const services = yield* Layer.build(
    TopicFeed.layer.pipe(
      Layer.provideMerge(PolicyInForce.layer),
      Layer.provide(Layer.mock(Storage, { orderOf: orderColumns, remoteChanges: Stream.fromPubSub(others) })),
      Layer.provide(
        Layer.mock(Commits, { listen: (listener) => Effect.sync(() => void listeners.push(listener)) }),
      ),
    ),
  )
  yield* TestClock.adjust(0)
  return {
    feed: Context.get(services, TopicFeed),
    policy: Context.get(services, PolicyInForce),
    commit: (...names: ReadonlyArray<string>) => {
      for (const { committed } of listeners) committed?.({ ...OTHER_CHANGES, topics: topicsNamed(names) })
    },
    announce: (...names: ReadonlyArray<string>) => PubSub.publish(others, topicsNamed(names)),
  }
})

/** The topics that a client reads now; empty if it would have to wait. */
const read = Effect.fnUntraced(function* ({ some, take }: UnreadTopics) {
  const waiting = yield* Effect.forkChild(some)
  yield* TestClock.adjust(0)
  return waiting.pollUnsafe() === undefined ? [] : (yield* take).topics
})

it("a set has a bit for each topic", () => assert.deepStrictEqual(namesOf(ALL_TOPICS), topicNames))

describe("a feed of topics", () => {
  it.effect("unites what this process, another one and a new policy change, for a slow reader too", () =>
    Effect.gen(function* () {
      const { announce, commit, feed, policy } = yield* played
      commit("audit")
      const [quick, slow] = yield* Effect.all([feed.open(), feed.open()])
      assert.deepStrictEqual(yield* read(quick), [])
      commit("incidents")
      assert.deepStrictEqual(yield* read(quick), ["incidents"])
      commit("outbox")
      yield* announce("agents", "outbox")
      yield* policy.replace(policy.current())
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(yield* read(quick), [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* read(quick), ["agents", "outbox", "policy"])
      for (let second = 0; second < 1_000; second++) {
        commit("checks")
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual(yield* read(slow), ["agents", "checks", "incidents", "outbox", "policy"])
      assert.deepStrictEqual(yield* read(slow), [])
    }),
  )

  /** Milliseconds from one change to the next, and its topics. */
  const changes = Arbitrary.array(
    Arbitrary.all([
      Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_500 }))),
      Arbitrary.array(Arbitrary.schema(Schema.Literals(topicNames)), { minLength: 1, maxLength: 4 }),
    ]),
    { minLength: 0, maxLength: 40 },
  )

  it.effect.prop(
    "announces each topic within a second, nothing else, and at most once a second",
    { changes },
    ({ changes }) =>
      Effect.gen(function* () {
        const { commit, feed } = yield* played
        const { some, take } = yield* feed.open()
        const events: Array<{ readonly at: number; readonly topics: ReadonlyArray<string> }> = []
        const reading = Effect.gen(function* () {
          yield* some
          events.push({ at: yield* Clock.currentTimeMillis, topics: (yield* take).topics })
        })
        yield* Effect.forkChild(Effect.forever(reading))
        const timed: Array<(typeof events)[number]> = []
        for (const [after, topics] of changes) {
          yield* TestClock.adjust(after)
          timed.push({ at: yield* Clock.currentTimeMillis, topics })
          commit(...topics)
        }
        yield* TestClock.adjust("2 seconds")
        for (const { at, topics } of timed) {
          const inTime = events.filter((event) => event.at >= at && event.at <= at + 1_000)
          assert.includeMembers(
            inTime.flatMap((event) => event.topics),
            [...topics],
          )
        }
        for (const [n, event] of events.entries()) {
          const previous = events[n - 1]?.at ?? -Infinity
          assert.isAtLeast(event.at - previous, 1_000)
          const since = timed.filter(({ at }) => at >= previous && at <= event.at)
          assert.includeMembers(
            since.flatMap(({ topics }) => topics),
            [...event.topics],
          )
        }
      }),
    { arbitrary: { runs: propertyRuns(200), size: 40 } },
  )

  it.effect("a client that names itself holds two: the oldest is replaced, and gives its place back", () =>
    Effect.gen(function* () {
      const { feed } = yield* played
      yield* Effect.forEach(Array.from({ length: 98 }), () => feed.open())
      const isReplaced = Effect.fnUntraced(function* ({ replaced }: UnreadTopics) {
        const waiting = yield* Effect.forkChild(replaced)
        yield* TestClock.adjust(0)
        return waiting.pollUnsafe() !== undefined
      })
      const streams: Array<UnreadTopics> = []
      for (let n = 0; n < 200; n++) streams.push(yield* feed.open("a tab"))
      assert.deepStrictEqual(yield* Effect.forEach(streams.slice(-3), isReplaced), [true, false, false])
      // A stranger to it gets no place of others.
      assert.strictEqual((yield* Effect.flip(feed.open("another"))).retryAfterSeconds, 15)
    }),
  )

  it.effect("serves 100 clients at a time, and another one when one of them leaves", () =>
    Effect.gen(function* () {
      const { feed } = yield* played
      const first = yield* Scope.make()
      yield* Scope.provide(feed.open(), first)
      yield* Effect.forEach(Array.from({ length: 99 }), () => feed.open())
      const refused = yield* Effect.flip(feed.open())
      assert.deepInclude(refused, { _tag: "RateLimited", retryAfterSeconds: 15 })
      yield* Scope.close(first, Exit.void)
      yield* feed.open()
    }),
  )
})

describe("topics", () => {
  it("are a set by their names, and names of newer versions are left out", () => {
    assert.deepStrictEqual(namesOf(ALL_TOPICS), topicNames)
    assert.deepStrictEqual(namesOf(topicsNamed(["outbox", "agents", "newer", "outbox"])), [
      "agents",
      "outbox",
    ])
  })
})

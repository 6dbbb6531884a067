import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, PubSub, Scope, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import { OTHER_CHANGES } from "../../src/engine/unitOfWork/CommandChanges.ts"
import { Commits, type CommitListener } from "../../src/engine/commits/Commits.ts"
import { PolicyInForce } from "../../src/policy/PolicyInForce.ts"
import { Storage } from "../../src/ports/Storage.ts"
import { topicsNamed, type Topics } from "../../src/topics/Topics.ts"
import { TopicFeed, type UnreadTopics } from "../../src/usecases/TopicFeed.ts"

/** A feed whose commits and other processes a test plays. */
const played = Effect.gen(function* () {
  const listeners: Array<CommitListener> = []
  const others = yield* PubSub.unbounded<Topics>()
  const services = yield* Layer.build(
    TopicFeed.layer.pipe(
      Layer.provideMerge(PolicyInForce.layer),
      Layer.provide(Layer.mock(Storage, { remoteChanges: Stream.fromPubSub(others) })),
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

describe("a feed of topics", () => {
  it.effect("unites what this process, another one and a new policy change, for a slow reader too", () =>
    Effect.gen(function* () {
      const { announce, commit, feed, policy } = yield* played
      commit("audit")
      const [quick, slow] = yield* Effect.all([feed.open, feed.open])
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

  it.effect("serves 100 clients at a time, and another one when one of them leaves", () =>
    Effect.gen(function* () {
      const { feed } = yield* played
      const first = yield* Scope.make()
      yield* Scope.provide(feed.open, first)
      yield* Effect.forEach(Array.from({ length: 99 }), () => feed.open)
      const refused = yield* Effect.flip(feed.open)
      assert.deepInclude(refused, { _tag: "RateLimited", retryAfterSeconds: 15 })
      yield* Scope.close(first, Exit.void)
      yield* feed.open
    }),
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { type TrialCounts, HistoryTrial, type PolicyCounts } from "@tocsin/core/features/trial/HistoryTrial"
import { defaultRules, RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { PolicyTrials } from "@tocsin/core/features/trial/PolicyTrials"
import { Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"

const countsOf = (messages: Readonly<Record<string, number>>): PolicyCounts => ({
  messages: new Map(Object.entries(messages)),
  held: [],
})
const RESULT: TrialCounts = {
  inForce: countsOf({ chat: 5, pager: 2 }),
  tried: countsOf({ chat: 1 }),
  past: { results: 9, from: Instant.fromMicros(7n) },
}
const unused = () => assert.fail("a trial hashes nothing but policies")
const hashing = Layer.succeed(Hashing, {
  identify: unused,
  seal: unused,
  open: unused,
  sha256: (text) => `hash of ${text}`,
  pepperCheck: "",
})

const layerOf = (play: HistoryTrial | undefined) =>
  Layer.mergeAll(hashing, PolicyInForce.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(RuleSettings, { ...defaultRules, notifiers: ["chat", "pager"] }),
        Layer.succeed(HistoryTrial, play),
      ),
    ),
  )

describe("the trial of a policy", () => {
  it.effect("compares it with the policy in force over 30 days, or as long as it is asked", () => {
    const spans: Array<number> = []
    const play: HistoryTrial = ({ since, until, ...request }) =>
      Effect.sync(() => {
        spans.push(Instant.secondsBetween(since, until))
        assert.deepStrictEqual(request, {
          inForce: { policy: {}, notifiers: ["chat", "pager"] },
          tried: { policy: { routes: [] }, notifiers: ["chat", "pager"] },
          staleAfter: defaultRules.staleAfter,
          most: 100_000,
        })
        return RESULT
      })
    return Effect.gen(function* () {
      yield* TestClock.adjust("100 days")
      const tried = (yield* PolicyTrials.make).try
      const { unknown, since, until, ...report } = yield* tried({ routes: [] }, {})
      assert.isNotEmpty(unknown)
      assert.strictEqual(Instant.secondsBetween(since, until), 30 * 86_400)
      assert.deepStrictEqual(report, {
        history_from: Instant.fromMicros(7n),
        results: 9,
        in_force: "hash of {}",
        messages: { in_force: 7, tried: 1 },
        receivers: [
          { receiver: "chat", in_force: 5, tried: 1 },
          { receiver: "pager", in_force: 2, tried: 0 },
        ],
        held: [],
      })
      yield* tried({ routes: [] }, { since: Duration.hours(1) })
      assert.deepStrictEqual(spans, [30 * 86_400, 3_600])
    }).pipe(Effect.provide(layerOf(play)))
  })

  it.effect("is refused while another one runs, which ends after a minute", () => {
    let ended = 0
    const play = () =>
      Effect.ensuring(
        Effect.never,
        Effect.sync(() => (ended += 1)),
      )
    return Effect.gen(function* () {
      const tried = (yield* PolicyTrials.make).try
      const begun = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.flip(tried({}, {}))),
      )
      yield* Deferred.await(begun)
      yield* Effect.yieldNow
      const second = yield* Effect.flip(tried({}, {}))
      assert.strictEqual(second._tag, "RateLimited")
      yield* TestClock.adjust("1 minute")
      const failure = yield* Fiber.join(first)
      assert.strictEqual(failure._tag, "StateConflict")
      assert.include(failure.message, "longer than a minute")
      assert.strictEqual(ended, 1)
      const third = yield* Effect.forkChild(tried({}, {}))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(third)
      assert.strictEqual(ended, 2)
    }).pipe(Effect.provide(layerOf(play)))
  })

  it.effect("is refused where no database has the history", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip((yield* PolicyTrials.make).try({}, {}))
      assert.strictEqual(failure._tag, "StateConflict")
      assert.include(failure.message, "tocsin simulate --policy")
    }).pipe(Effect.provide(layerOf(undefined))),
  )
})

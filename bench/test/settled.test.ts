import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { BenchFailure } from "../src/BenchFailure.ts"
import { drained, notified } from "../src/measure/settled.ts"

/** The failure of a wait while nothing settles. */
const failureOf = <A>(wait: Effect.Effect<A, BenchFailure>) =>
  Effect.gen(function* () {
    const waiting = yield* Effect.forkChild(Effect.flip(wait))
    yield* TestClock.adjust("10 minutes")
    return yield* Fiber.join(waiting)
  })

describe("waiting for a service to settle", () => {
  it.effect("ends once nothing more is stored", () =>
    Effect.gen(function* () {
      let stored = 0
      const waiting = yield* Effect.forkChild(
        drained(
          "Zabbix",
          Effect.sync(() => (stored = Math.min(100, stored + 10))),
        ),
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(waiting)).count, 100)
    }),
  )

  it.effect("fails if storing never ends: the rate of a part would be wrong", () =>
    Effect.gen(function* () {
      let stored = 0
      const { message } = yield* failureOf(
        drained(
          "Zabbix",
          Effect.sync(() => (stored += 1)),
        ),
      )
      assert.strictEqual(
        message,
        "Zabbix still stores results after 300 s (1201 so far): measure with a shorter --seconds, or on a faster disk",
      )
    }),
  )

  it.effect("fails if notifications wait for ever, since they would burden the next measurement", () =>
    Effect.gen(function* () {
      const { message } = yield* failureOf(notified("Tocsin, memory", Effect.succeed('{"items":[{}]}')))
      assert.strictEqual(
        message,
        "Tocsin, memory still has notifications to send after 300 s: measure with a shorter --seconds, and see its log for failed attempts",
      )
      yield* notified("Tocsin, memory", Effect.succeed('{"items":[],"has_more":false}'))
    }),
  )
})

// allowed
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

it.effect("advances", () =>
  Effect.gen(function* () {
    yield* TestClock.adjust("1 second")
    assert.isTrue(true)
  })
)

import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { keepRepeating } from "../../../../src/kernel/engine/commits/keepRepeating.ts"
import { StorageError } from "../../../../src/kernel/ports/Storage.ts"

const failure = (message: string) => Effect.fail(new StorageError({ reason: "full", message }))

/** A look whose outcome the test sets, and the lines about it: their cause, and their count. */
const looking = Effect.gen(function* () {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ cause, fiber }) => {
    const { message } = Cause.squash(cause) as Error
    lines.push(`${message} ${String(fiber.getRef(References.CurrentLogAnnotations)["count"])}`)
  })
  let look: Effect.Effect<void, StorageError> = Effect.sleep("1 second")
  yield* keepRepeating(
    Effect.suspend(() => look),
    "cannot look",
  ).pipe(Effect.provide(Logger.layer([logger])), Effect.forkScoped)
  return {
    lines: Effect.sync(() => lines.splice(0)),
    becomes: (next: typeof look) =>
      Effect.sync(() => {
        look = next
      }),
  }
})

describe("a worker that keeps looking", () => {
  it.effect("logs a failure that stays the same once a minute, with its count", () =>
    Effect.gen(function* () {
      const { becomes, lines } = yield* looking
      yield* becomes(failure("full"))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* lines, ["full 1"])
      yield* TestClock.adjust("58 seconds")
      assert.deepStrictEqual(yield* lines, [])
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* lines, ["full 60", "full 60"])
    }),
  )

  it.effect("logs another failure at once, and the first one after a success", () =>
    Effect.gen(function* () {
      const { becomes, lines } = yield* looking
      yield* becomes(failure("full"))
      yield* TestClock.adjust("10 seconds")
      yield* becomes(Effect.die(new Error("defect")))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* lines, ["full 1", "defect 11"])
      yield* becomes(Effect.sleep("1 second"))
      yield* TestClock.adjust("3 seconds")
      yield* becomes(Effect.die(new Error("defect")))
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* lines, ["defect 1"])
    }),
  )
})

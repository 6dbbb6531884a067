import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Cause, Effect, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import * as FailureLog from "../../src/response/FailureLog.ts"

interface Line {
  readonly path: unknown
  readonly count: unknown
  readonly reason: unknown
}

const logged = Effect.fnUntraced(function* <E>(
  use: (log: FailureLog.FailureLog, lines: ReadonlyArray<Line>) => Effect.Effect<void, E>,
) {
  const lines: Array<Line> = []
  const logger = Logger.make<unknown, void>(({ fiber }) => {
    const { path, count, reason } = fiber.getRef(References.CurrentLogAnnotations)
    lines.push({ path, count, reason })
  })
  yield* Effect.flatMap(FailureLog.FailureLog, (log) => use(log, lines)).pipe(
    Effect.provide(Layer.provideMerge(FailureLog.layer, Logger.layer([logger]))),
  )
  return lines
})

const unavailable = new StorageError({ reason: "unavailable", message: "no connection" })
const full = new StorageError({ reason: "full", message: "the disk is full" })
const storage = (path: string, count: number, reason = "unavailable") => ({ path, count, reason })

describe("the log of failed requests", () => {
  it.effect("has one line a second for each class of errors, with how many it stands for", () =>
    logged(
      Effect.fnUntraced(function* (log, lines) {
        for (let n = 0; n < 300; n++) yield* log.storage(unavailable, { path: `/${n}` })
        yield* log.storage(full, { path: "/full" })
        assert.deepStrictEqual(lines, [storage("/0", 1), storage("/full", 1, "full")])

        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(lines.slice(2), [storage("/299", 299)])

        yield* log.storage(unavailable, { path: "/again" })
        assert.lengthOf(lines, 3)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(lines.slice(3), [storage("/again", 1)])

        yield* TestClock.adjust("1 second")
        yield* log.storage(unavailable, { path: "/later" })
        assert.deepStrictEqual(lines.slice(4), [storage("/later", 1)])
      }),
    ),
  )

  it.effect("keeps fields of one request out of the line of another", () =>
    Effect.gen(function* () {
      const lines = yield* logged((log) =>
        Effect.andThen(
          Effect.annotateLogs(log.storage(unavailable, { path: "/first" }), { reason: "not mine" }),
          log.defect(Cause.die(new TypeError("a mistake")), { path: "/second" }),
        ),
      )
      assert.deepStrictEqual(lines, [
        storage("/first", 1),
        { path: "/second", count: 1, reason: "TypeError" },
      ])
    }),
  )

  it.effect("says what it still holds when its server stops", () =>
    Effect.gen(function* () {
      const lines = yield* logged((log) =>
        Effect.forEach(["/1", "/2", "/3"], (path) => log.storage(unavailable, { path }), { discard: true }),
      )
      assert.deepStrictEqual(lines, [storage("/1", 1), storage("/3", 2)])
    }),
  )
})

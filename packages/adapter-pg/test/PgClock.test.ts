import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Clock, Effect, Layer, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "./client/eventually.ts"
import * as PgClock from "../src/PgClock.ts"

const NANOS_PER_MILLI = 1_000_000n

/**
 * Far more than a question to a database on this machine takes, far less than the offsets that are
 * tested.
 */
const CLOSE_NANOS = 5_000n * NANOS_PER_MILLI

const isClose = (a: bigint, b: bigint): boolean => a - b < CLOSE_NANOS && b - a < CLOSE_NANOS

/** The machine's clock, which is the database's too. */
const realNanos = TestClock.withLive(Clock.currentTimeNanos)

const corrected = Effect.gen(function* () {
  const { url } = yield* ScratchPostgres
  return yield* Effect.map(
    Layer.build(PgClock.layer({ url })),
    (services) => (use: Effect.Effect<bigint>) => Effect.provide(use, services),
  )
})

layer(ScratchPostgres.layer)("PgClock", (it) => {
  it.effect("has the database's time from the start, whatever the machine's clock says", () =>
    Effect.gen(function* () {
      for (const millis of [0, 4_000_000_000_000]) {
        yield* TestClock.setTime(millis)
        const onDatabaseTime = yield* corrected
        assert.isTrue(isClose(yield* onDatabaseTime(Clock.currentTimeNanos), yield* realNanos))
        const inMillis = yield* onDatabaseTime(Effect.map(Clock.currentTimeMillis, BigInt))
        assert.isTrue(isClose(inMillis * NANOS_PER_MILLI, yield* realNanos))
      }
    }),
  )

  it.effect("moves with the machine's clock, and is measured again every minute", () =>
    Effect.gen(function* () {
      const onDatabaseTime = yield* corrected
      const before = yield* onDatabaseTime(Clock.currentTimeNanos)
      yield* TestClock.adjust("59 seconds")
      const ahead = yield* onDatabaseTime(Clock.currentTimeNanos)
      assert.strictEqual(ahead - before, 59_000n * NANOS_PER_MILLI)
      yield* TestClock.adjust("1 second")
      const isCorrected = Effect.gen(function* () {
        return isClose(yield* onDatabaseTime(Clock.currentTimeNanos), yield* realNanos)
      })
      yield* eventually(isCorrected)
    }),
  )

  it.effect("does not correct the monotonic time", () =>
    Effect.gen(function* () {
      const onDatabaseTime = yield* corrected
      const base = yield* Clock.monotonicTimeNanos
      assert.strictEqual(yield* onDatabaseTime(Clock.monotonicTimeNanos), base)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* onDatabaseTime(Clock.monotonicTimeNanos), base + 10_000n * NANOS_PER_MILLI)
    }),
  )

  it.effect("keeps the last offset while the database is down", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const warnings: Array<unknown> = []
      const logger = Logger.make(({ message }) => warnings.push(message))
      const onDatabaseTime = yield* Effect.provide(corrected, Logger.layer([logger]))
      warnings.length = 0
      const before = yield* onDatabaseTime(Clock.currentTimeNanos)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* scratch.away
          yield* TestClock.adjust("1 minute")
          yield* eventually(Effect.sync(() => warnings.length === 1))
          assert.strictEqual(
            (yield* onDatabaseTime(Clock.currentTimeNanos)) - before,
            60_000n * NANOS_PER_MILLI,
          )
        }),
      )
      yield* TestClock.adjust("1 minute")
      const isCorrected = Effect.gen(function* () {
        return isClose(yield* onDatabaseTime(Clock.currentTimeNanos), yield* realNanos)
      })
      yield* eventually(isCorrected)
    }),
  )

  it.effect("fails at the start without a database", () =>
    Effect.gen(function* () {
      const { url } = yield* ScratchPostgres
      const nowhere = Object.assign(new URL(Redacted.value(url)), { port: "1" })
      const error = yield* Effect.flip(Layer.build(PgClock.layer({ url: Redacted.make(nowhere.href) })))
      assert.strictEqual(error.reason, "unavailable")
    }),
  )
})

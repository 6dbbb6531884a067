import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Clock, Duration, Effect, Layer } from "effect"
import type { PgClient } from "./client/PgClient.ts"
import type { PgPoolOptions } from "./client/PgPoolOptions.ts"
import { connect, readStorageTime, retryTransient } from "./Database.ts"
import { POOLS } from "./PgStorage.ts"

/** Clocks of machines drift apart by a few milliseconds in this time. */
const MEASURE_EVERY = Duration.minutes(1)

/** The fastest of these answers is the most exact: its error is at most half of its round trip. */
const SAMPLES = 5

/** Operators should know about an offset that other clocks do not share. */
const WORTH_A_WORD_NANOS = 1_000_000_000n

const NANOS_PER_MICRO = 1_000n
const NANOS_PER_MILLI = 1_000_000n

/**
 * Effect's clock, corrected by its offset from the database's, so that replicas agree on liveness, due times and
 * retention. The monotonic time stays uncorrected. Fails if the database does not answer; later failures keep
 * the last offset.
 */
export const layer = (options: PgPoolOptions): Layer.Layer<never, StorageError> =>
  Layer.effect(
    Clock.Clock,
    Effect.gen(function* () {
      const { pg } = yield* connect({ ...options, maxConnections: POOLS.clock })
      const base = yield* Clock.Clock
      const { clock, correct } = correctedClock(base)
      const measure = Effect.flatMap(retryTransient(measureOffset(pg, base)), correct)
      yield* measure
      yield* Effect.sleep(MEASURE_EVERY).pipe(
        Effect.andThen(measure),
        Effect.catch((error) =>
          Effect.logWarning("cannot read PostgreSQL's clock; using the last known offset", error),
        ),
        Effect.forever,
        Effect.forkScoped,
      )
      return clock
    }),
  )

const correctedClock = (base: Clock.Clock) => {
  let offsetNanos = 0n
  const nanos = () => base.currentTimeNanosUnsafe() + offsetNanos
  const millis = () => Number(nanos() / NANOS_PER_MILLI)
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: base.monotonicTimeNanos,
    sleep: (duration) => base.sleep(duration),
  }
  const correct = (offset: bigint): Effect.Effect<void> => {
    const change = offset - offsetNanos
    offsetNanos = offset
    if (change < WORTH_A_WORD_NANOS && change > -WORTH_A_WORD_NANOS) return Effect.void
    return Effect.logWarning(
      `this machine's clock differs from PostgreSQL's by ${offset / NANOS_PER_MILLI} ms; Tocsin uses PostgreSQL's: synchronize both with NTP`,
    )
  }
  return { clock, correct }
}

/** How far the database's clock is ahead of the moment half-way between query and answer. */
const measureOffset = Effect.fnUntraced(function* (pg: PgClient["Service"], base: Clock.Clock) {
  // The first query waits for a connection.
  yield* readStorageTime(pg)
  let best: { readonly roundTrip: bigint; readonly offset: bigint } | undefined
  for (let sample = 0; sample < SAMPLES; sample++) {
    const asked = base.currentTimeNanosUnsafe()
    const start = base.monotonicTimeNanosUnsafe()
    const storageTime = yield* readStorageTime(pg)
    const roundTrip = base.monotonicTimeNanosUnsafe() - start
    const offset = storageTime * NANOS_PER_MICRO - (asked + roundTrip / 2n)
    if (best === undefined || roundTrip < best.roundTrip) best = { roundTrip, offset }
  }
  return best?.offset ?? 0n
})

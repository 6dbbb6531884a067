import type { StorageError } from "@tocsin/core/ports/Storage"
import { Clock, Duration, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "./client/PgClient.ts"
import type { PgPoolOptions } from "./client/PgPoolOptions.ts"
import { connect, readStorageTime } from "./Database.ts"
import { POOLS } from "./processConnections.ts"
import { retryTransient } from "./transactions/retryTransient.ts"

/** Clocks of machines drift apart by a few milliseconds in this time. */
const MEASURE_EVERY = Duration.minutes(1)

/** The fastest of these answers is the most exact: its error is at most half of its round trip. */
const SAMPLES = 5

/** Operators should know about an offset that other clocks do not share. */
const WORTH_A_WORD_NANOS = 1_000_000_000n

const NANOS_PER_MICRO = 1_000n
const NANOS_PER_MILLI = 1_000_000n

/**
 * Effect's clock, corrected by its offset from the database's clock, so that replicas agree on
 * liveness, due times and retention. It measures the offset when the layer is built, then every
 * minute, on a connection of its own. The monotonic time stays uncorrected. The layer fails if the
 * database does not answer; later failures keep the last offset.
 */
export const layer = (options: PgPoolOptions): Layer.Layer<never, StorageError> =>
  Layer.effect(
    Clock.Clock,
    Effect.gen(function* () {
      const { pg } = yield* connect({ ...options, maxConnections: POOLS.clock })
      const base = yield* Clock.Clock
      const clock = new CorrectedClock(base)
      const correct = Effect.flatMap(retryTransient(measureOffset(pg, base)), (offset) =>
        clock.correct(offset),
      )
      yield* correct
      yield* Effect.sleep(MEASURE_EVERY).pipe(
        Effect.andThen(correct),
        Effect.catch((error) =>
          Effect.logWarning("cannot read PostgreSQL's clock; using the last known offset", error),
        ),
        Effect.forever,
        Effect.forkScoped,
      )
      return clock
    }),
  )

class CorrectedClock implements Clock.Clock {
  readonly #base: Clock.Clock
  #offsetNanos = 0n

  constructor(base: Clock.Clock) {
    this.#base = base
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  currentTimeMillisUnsafe(): number {
    return Number(this.currentTimeNanosUnsafe() / NANOS_PER_MILLI)
  }

  currentTimeNanosUnsafe(): bigint {
    return this.#base.currentTimeNanosUnsafe() + this.#offsetNanos
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.#base.monotonicTimeNanosUnsafe()
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.#base.sleep(duration)
  }

  correct(offsetNanos: bigint): Effect.Effect<void> {
    const change = offsetNanos - this.#offsetNanos
    this.#offsetNanos = offsetNanos
    if (change < WORTH_A_WORD_NANOS && change > -WORTH_A_WORD_NANOS) return Effect.void
    return Effect.logWarning(
      `this machine's clock differs from PostgreSQL's by ${offsetNanos / NANOS_PER_MILLI} ms; Tocsin uses PostgreSQL's: synchronize both with NTP`,
    )
  }
}

/** How far the database's clock is ahead of the moment half-way between query and answer. */
const measureOffset = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  base: Clock.Clock,
): Effect.fn.Return<bigint, SqlError.SqlError> {
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

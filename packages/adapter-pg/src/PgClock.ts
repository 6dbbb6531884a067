import type { StorageError } from "@tocsin/core/ports/Storage"
import { Clock, Context, Duration, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { PgClient } from "./client/PgClient.ts"
import type { PgPoolOptions } from "./client/PgPoolOptions.ts"
import { readStorageTime } from "./readStorageTime.ts"
import { toStorageError } from "./toStorageError.ts"
import { retryTransient } from "./transactions/retryTransient.ts"

/** Machines' clocks drift apart by some milliseconds in that time (decisions, "Now"). */
const MEASURE_EVERY = Duration.minutes(1)

/** The quickest of these answers tells the most: the error is at most half of its round trip. */
const SAMPLES = 5

/** People should hear of an offset that agents' and their own clocks do not share. */
const WORTH_A_WORD_NANOS = 1_000_000_000n

const NANOS_PER_MICRO = 1_000n
const NANOS_PER_MILLI = 1_000_000n

/**
 * Effect's clock, corrected by its offset from the database's clock: measured when the layer is built, then every minute, so
 * that replicas agree on liveness, due times and retention. What measures durations is not touched. Fails when the database
 * does not answer at first; later it keeps the offset it has. Keeps a pool of its own, of one connection.
 */
export const layer = (options: PgPoolOptions): Layer.Layer<never, StorageError> =>
  Layer.effect(
    Clock.Clock,
    Effect.gen(function* () {
      const client = PgClient.layer({ ...options, maxConnections: 1 })
      const pg = Context.get(yield* Effect.mapError(Layer.build(client), toStorageError), PgClient)
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

/** How far the database's clock is ahead: what it says, against the moment half-way between question and answer. */
const measureOffset = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  base: Clock.Clock,
): Effect.fn.Return<bigint, SqlError.SqlError> {
  // The first question waits for a connection.
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

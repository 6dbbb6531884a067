import { type Clock, type Duration, Effect } from "effect"

const NANOS_PER_MICRO = 1_000n
const NANOS_PER_MILLI = 1_000_000n

/** A clock that continues from the seed's present, so that its agents are not silent. */
export class ClockAtSeed implements Clock.Clock {
  readonly #base: Clock.Clock
  readonly #behindNanos: bigint

  constructor(base: Clock.Clock, leftAtMicros: bigint) {
    this.#base = base
    this.#behindNanos = base.currentTimeNanosUnsafe() - leftAtMicros * NANOS_PER_MICRO
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  currentTimeMillisUnsafe(): number {
    return Number(this.currentTimeNanosUnsafe() / NANOS_PER_MILLI)
  }

  currentTimeNanosUnsafe(): bigint {
    return this.#base.currentTimeNanosUnsafe() - this.#behindNanos
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.#base.monotonicTimeNanosUnsafe()
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.#base.sleep(duration)
  }
}

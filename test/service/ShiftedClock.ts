import { type Clock, Duration, Effect } from "effect"

/** A clock that a test sets back. Timers follow the clock behind it. */
export class ShiftedClock implements Clock.Clock {
  #behind = 0n
  readonly #clock: Clock.Clock

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  setBack(by: Duration.Input): void {
    this.#behind += Duration.toNanosUnsafe(Duration.fromInputUnsafe(by))
  }

  currentTimeNanosUnsafe(): bigint {
    return this.#clock.currentTimeNanosUnsafe() - this.#behind
  }
  currentTimeMillisUnsafe(): number {
    return Number(this.currentTimeNanosUnsafe() / 1_000_000n)
  }
  monotonicTimeNanosUnsafe(): bigint {
    return this.#clock.monotonicTimeNanosUnsafe()
  }
  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.#clock.sleep(duration)
  }
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())
}

import * as Instant from "@tocsin/contract/formats/Instant"
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"

/** A clock that a test sets. Timers follow the clock behind it. */
export class ShiftedClock implements TestClock.TestClock {
  #ahead = 0n
  readonly #clock: TestClock.TestClock

  constructor(clock: TestClock.TestClock) {
    this.#clock = clock
  }

  setBack(by: Duration.Input): void {
    this.#ahead -= Duration.toNanosUnsafe(Duration.fromInputUnsafe(by))
  }
  setAhead(by: Duration.Input): void {
    this.#ahead += Duration.toNanosUnsafe(Duration.fromInputUnsafe(by))
  }

  currentTimeNanosUnsafe(): bigint {
    return this.#clock.currentTimeNanosUnsafe() + this.#ahead
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
  adjust(duration: Duration.Input): Effect.Effect<void> {
    return this.#clock.adjust(duration)
  }
  setTime(timestamp: number): Effect.Effect<void> {
    return this.#clock.setTime(timestamp)
  }
  withLive<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return this.#clock.withLive(effect)
  }
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())
}

/** The clocks of a test that sets the clock of the service. */
export interface Clocks {
  readonly clock: ShiftedClock
  /** The time by a clock that nobody sets, such as an agent's. */
  readonly rightNow: Effect.Effect<Instant.Instant>
}

/** Runs a test on a clock that it sets. */
export const onShiftedClock = <A, E, R>(test: (clocks: Clocks) => Effect.Effect<A, E, R>) =>
  TestClock.testClockWith((right) => {
    const clock = new ShiftedClock(right)
    const rightNow = Effect.provideService(Instant.now, Clock.Clock, right)
    return Effect.provideService(test({ clock, rightNow }), Clock.Clock, clock)
  })

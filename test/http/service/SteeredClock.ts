import { type Clock, Duration, Effect } from "effect"

/** A clock that a test moves. Timers run in real time, as sockets do. */
export class SteeredClock implements Clock.Clock {
  #nanos: bigint
  readonly #real: Clock.Clock

  constructor(real: Clock.Clock, startMillis: number) {
    this.#real = real
    this.#nanos = BigInt(startMillis) * 1_000_000n
  }

  /** Moves the clock forward. */
  advance(by: Duration.Input): void {
    this.#nanos += Duration.toNanosUnsafe(Duration.fromInputUnsafe(by))
  }

  currentTimeNanosUnsafe(): bigint {
    return this.#nanos
  }
  currentTimeMillisUnsafe(): number {
    return Number(this.#nanos / 1_000_000n)
  }
  monotonicTimeNanosUnsafe(): bigint {
    return this.#real.monotonicTimeNanosUnsafe()
  }
  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.#real.sleep(duration)
  }
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())
}

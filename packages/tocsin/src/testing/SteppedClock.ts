import { type Clock, Duration, Effect } from "effect"

const NANOS_PER_MILLI = 1_000_000n

interface Sleeper {
  readonly wakesAt: bigint
  readonly wake: () => void
}

/** A clock that stands still until it is moved. */
export class SteppedClock implements Clock.Clock {
  readonly #start: bigint
  #now: bigint
  #sleepers: ReadonlyArray<Sleeper> = []
  /** How often anybody looked at it or slept by it: while that grows, something is at work. */
  uses = 0

  constructor(startMillis: number) {
    this.#start = BigInt(startMillis) * NANOS_PER_MILLI
    this.#now = this.#start
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  currentTimeMillisUnsafe(): number {
    return Number(this.currentTimeNanosUnsafe() / NANOS_PER_MILLI)
  }

  currentTimeNanosUnsafe(): bigint {
    this.uses += 1
    return this.#now
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.currentTimeNanosUnsafe() - this.#start
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.callback((resume) => {
      this.uses += 1
      if (!Duration.isFinite(duration)) return
      const wake = () => resume(Effect.void)
      const sleeper = { wakesAt: this.#now + Duration.toNanosUnsafe(duration), wake }
      this.#sleepers = [...this.#sleepers, sleeper]
      return Effect.sync(() => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
      })
    })
  }

  /** The moment at which the next sleeper wakes, in nanoseconds since 1970. */
  get nextWake(): bigint | undefined {
    let next: bigint | undefined
    for (const { wakesAt } of this.#sleepers) if (next === undefined || wakesAt < next) next = wakesAt
    return next
  }

  /** Goes on to a moment and wakes those who slept until then, in the order in which they fell asleep. Never goes back. */
  moveTo(nanos: bigint): void {
    if (nanos < this.#now) throw new Error(`the clock stands at ${this.#now}, after ${nanos}`)
    this.#now = nanos
    const due = this.#sleepers.filter(({ wakesAt }) => wakesAt <= nanos)
    this.#sleepers = this.#sleepers.filter(({ wakesAt }) => wakesAt > nanos)
    for (const { wake } of due) wake()
  }
}

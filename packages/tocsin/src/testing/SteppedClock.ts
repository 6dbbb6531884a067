import { type Clock, Duration, Effect } from "effect"

const NANOS_PER_MILLI = 1_000_000n
const NANOS_PER_MICRO = 1_000n

interface Sleeper {
  readonly length: bigint
  wakesAt: bigint
  /** Whether it sleeps again, as long as it finds nothing to do. */
  readonly isIdle: boolean
  readonly wake: () => void
}

/** A clock that stands still until it is moved. */
export class SteppedClock implements Clock.Clock {
  readonly #start: bigint
  #now: bigint
  #sleepers: ReadonlyArray<Sleeper> = []
  /** How often it was read or slept by: while this grows, something is at work. */
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
    return this.#sleep(duration, false)
  }

  /** The sleep of a loop that has nothing to do: it may last for several such durations. */
  readonly idle = (duration: Duration.Duration): Effect.Effect<void> => this.#sleep(duration, true)

  #sleep(duration: Duration.Duration, isIdle: boolean): Effect.Effect<void> {
    return Effect.callback((resume) => {
      this.uses += 1
      if (!Duration.isFinite(duration)) return
      const wake = () => resume(Effect.void)
      const length = Duration.toNanosUnsafe(duration)
      const sleeper = { length, wakesAt: wholeMicros(this.#now + length), isIdle, wake }
      this.#sleepers = [...this.#sleepers, sleeper]
      return Effect.sync(() => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
      })
    })
  }

  /**
   * The moment at which the next sleeper wakes, in nanoseconds since 1970. Idle ones sleep on
   * through every round that is followed by another one no later than `due`; where nothing is due,
   * they do not count.
   */
  nextWake(due: bigint | undefined): bigint | undefined {
    let next: bigint | undefined
    for (const sleeper of this.#sleepers) {
      const wakesAt = sleeper.isIdle ? lastRound(sleeper, due) : sleeper.wakesAt
      if (wakesAt !== undefined && (next === undefined || wakesAt < next)) next = wakesAt
    }
    return next
  }

  /** Whether an idle sleeper would sleep through a round on the way to a moment. */
  passesOver(nanos: bigint): boolean {
    return this.#sleepers.some(({ wakesAt }) => wakesAt < nanos)
  }

  /**
   * Goes on to a moment and wakes those who slept until then, in the order in which they fell
   * asleep, or would have if they had not slept through rounds. Never goes back.
   */
  moveTo(nanos: bigint): void {
    if (nanos < this.#now) throw new Error(`the clock stands at ${this.#now}, after ${nanos}`)
    this.#now = nanos
    for (const sleeper of this.#sleepers)
      if (sleeper.wakesAt < nanos) sleeper.wakesAt = nextRound(sleeper, nanos)
    const due = this.#sleepers.filter(({ wakesAt }) => wakesAt === nanos)
    this.#sleepers = this.#sleepers.filter(({ wakesAt }) => wakesAt !== nanos)
    for (const { wake } of due.toSorted((a, b) => Number(b.length - a.length))) wake()
  }
}

/**
 * Moments are stored in microseconds. A sleeper that woke between two of them would sleep past the
 * moment that it is waiting for.
 */
const wholeMicros = (nanos: bigint): bigint => nextRound({ wakesAt: 0n, length: NANOS_PER_MICRO }, nanos)

/** The last round no later than `due`, or the first where all are later. */
const lastRound = ({ wakesAt, length }: Sleeper, due: bigint | undefined): bigint | undefined => {
  if (due === undefined) return undefined
  return due <= wakesAt ? wakesAt : due - ((due - wakesAt) % length)
}

/** The first round at a moment or after it. */
const nextRound = ({ wakesAt, length }: Pick<Sleeper, "wakesAt" | "length">, moment: bigint): bigint => {
  const over = (moment - wakesAt) % length
  return over === 0n ? moment : moment + length - over
}

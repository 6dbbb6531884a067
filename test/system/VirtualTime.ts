import { Clock, Duration, Effect, Exit, Scheduler } from "effect"
import type { TestClock } from "effect/testing"
import { START_MILLIS } from "@tocsin/testing/samples"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

const NANOS_PER_MILLI = 1_000_000
const nanosOf = (millis: number): bigint => BigInt(Math.round(millis * NANOS_PER_MILLI))

/**
 * Time that passes as soon as everything waits. Fibers run in one order, on one thread, so that two
 * runs of one program are equal. `adjust` of its clocks is a sleep.
 */
export class VirtualTime {
  /** Milliseconds since the start. It never steps. */
  #now = 0
  /** The next to wake is the last. */
  readonly #sleepers: Array<Sleeper> = []
  #ready: Array<() => void> = []
  /** Looks whether anything can go on, at once and not within a millisecond. */
  wake = (): void => {}
  readonly #scheduler = new Scheduler.MixedScheduler("async", (task) => {
    this.#ready.push(task)
    this.wake()
    return () => {
      this.#ready = this.#ready.filter((other) => other !== task)
    }
  })

  get now(): number {
    return this.#now
  }

  /** A wall clock that is off by so many milliseconds. */
  clock(offset: () => number): TestClock.TestClock {
    const millis = () => START_MILLIS + this.#now + offset()
    const sleep = (duration: Duration.Duration) => this.#sleep(Duration.toMillis(duration))
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: () => nanosOf(millis()),
      currentTimeNanos: Effect.sync(() => nanosOf(millis())),
      monotonicTimeNanosUnsafe: () => nanosOf(this.#now),
      monotonicTimeNanos: Effect.sync(() => nanosOf(this.#now)),
      sleep,
      adjust: (duration) => sleep(Duration.fromInputUnsafe(duration)),
      setTime: () => Effect.void,
      withLive: (effect) => effect,
    }
  }

  /** Lets everything else go on until it waits, while time stands still. */
  readonly settled: Effect.Effect<void> = Effect.suspend(() => this.#wakeIn(0))

  /**
   * Runs a program to its end. Rejects with what it fails with, or where nothing can happen any more. Time stands
   * still while something is under way outside.
   */
  async run<A, E>(
    program: Effect.Effect<A, E>,
    clock: Clock.Clock,
    isUnderWay: () => boolean = () => false,
  ): Promise<A> {
    const fiber = Effect.runFork(Effect.provideService(program, Clock.Clock, clock), {
      scheduler: this.#scheduler,
    })
    for (let exit = fiber.pollUnsafe(); ; exit = fiber.pollUnsafe()) {
      if (exit !== undefined) return Exit.isSuccess(exit) ? exit.value : await Effect.runPromise(exit)
      if (this.#ready.length === 0) await allMicrotasks()
      while (this.#ready.length === 0 && isUnderWay()) await this.#answered()
      if (this.#ready.length === 0 && fiber.pollUnsafe() === undefined) this.#advance()
      for (let tasks = this.#ready; tasks.length > 0; tasks = this.#ready) {
        this.#ready = []
        for (const task of tasks) task()
      }
    }
  }

  /** Leaves the processor to what is under way outside. */
  #answered(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 1)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #advance(): void {
    const next = this.#sleepers.pop()
    if (next === undefined) throw new Error("everything waits, and nothing will happen")
    this.#now = next.at
    next.wake()
  }

  #sleep(millis: number): Effect.Effect<void> {
    return millis <= 0 ? Effect.void : this.#wakeIn(millis)
  }

  #wakeIn(millis: number): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const sleeper = { at: this.#now + millis, wake: () => resume(Effect.void) }
      const place = this.#sleepers.findLastIndex(({ at }) => at > sleeper.at) + 1
      this.#sleepers.splice(place, 0, sleeper)
      return Effect.sync(() => {
        const index = this.#sleepers.indexOf(sleeper)
        if (index !== -1) this.#sleepers.splice(index, 1)
      })
    })
  }
}

/** Promises of agents go on in microtasks. */
const allMicrotasks = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

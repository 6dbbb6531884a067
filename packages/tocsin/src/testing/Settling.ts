import { within } from "@tocsin/reporting/program/Platform"
import { Scheduler } from "effect"
import type { SteppedClock } from "./SteppedClock.ts"

// Kept, because a test may fake the global ones, which then run nothing.
const { clearImmediate, setImmediate } = globalThis

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Runs fibers in real turns: Effect's own scheduler uses whatever timer is global at the moment. */
export const realTurns: Scheduler.Scheduler = new Scheduler.MixedScheduler("async", (run) => {
  const turn = setImmediate(run)
  return () => clearImmediate(turn)
})

// Turns of the event loop without a look at the clock: every transaction, delivery and sweep looks
// at it.
const QUIET_TURNS = 2
// A receiver that does not answer at all must not stop the test: the attempt's own time-out is by
// the test's clock.
const ANSWER_WITHIN_MILLIS = 1_000

/** Waits until a monitor has done its background work at one moment of its clock. */
export class Settling {
  readonly #clock: SteppedClock
  readonly #attempts = new Set<Promise<void>>()

  constructor(clock: SteppedClock) {
    this.#clock = clock
  }

  /** Begins an attempt to send; the result ends it. */
  readonly begin = (): (() => void) => {
    let finish = () => {}
    const attempt = new Promise<void>((resolve) => {
      finish = resolve
    })
    this.#attempts.add(attempt)
    return () => {
      this.#attempts.delete(attempt)
      finish()
    }
  }

  /** Resolves once nothing more happens until the clock moves. */
  async settle(): Promise<void> {
    do {
      await this.#beQuiet()
      await this.#beAnswered()
    } while (this.#attempts.size > 0)
  }

  async #beQuiet(): Promise<void> {
    let seen = this.#clock.uses
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      await nextTurn()
      if (this.#clock.uses === seen) continue
      seen = this.#clock.uses
      quiet = -1
    }
  }

  /** Gives attempts under way some real time; those that take longer are left to the clock. */
  async #beAnswered(): Promise<void> {
    if (this.#attempts.size === 0) return
    const attempts = Array.from(this.#attempts)
    const outcome = await within(ANSWER_WITHIN_MILLIS, Promise.all(attempts))
    if (outcome === "late") for (const attempt of attempts) this.#attempts.delete(attempt)
    else await this.#beQuiet()
  }
}

import { Cause, Effect } from "effect"
import type { IncidentChange } from "./IncidentChange.ts"

/**
 * The changes that one subscriber has not taken yet: at most `capacity`. The oldest give way, so
 * that a slow subscriber costs bounded memory and delays nobody.
 */
export class ChangeBuffer {
  readonly #capacity: number
  readonly #changes: Array<Omit<IncidentChange, "missed">> = []
  #missed = 0
  #hasEnded = false
  #wake: (() => void) | undefined

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Adds a change; drops the oldest if it is full. */
  offer(change: Omit<IncidentChange, "missed">): void {
    if (this.#changes.length === this.#capacity) {
      this.#changes.shift()
      this.#missed += 1
    }
    this.#changes.push(change)
    this.#wake?.()
  }

  /** Ends it; remaining changes can still be taken. */
  end(): void {
    this.#hasEnded = true
    this.#wake?.()
  }

  /**
   * Takes the oldest change, or waits for one; done once it has ended and is empty. One taker at a
   * time.
   */
  readonly take: Effect.Effect<IncidentChange, Cause.Done> = Effect.callback((resume) => {
    const settle = (): boolean => {
      const change = this.#changes.shift()
      if (change === undefined && !this.#hasEnded) return false
      const missed = this.#missed
      this.#missed = 0
      this.#wake = undefined
      resume(change === undefined ? Cause.done() : Effect.succeed({ ...change, missed }))
      return true
    }
    if (!settle()) this.#wake = settle
    return Effect.sync(() => {
      this.#wake = undefined
    })
  })
}

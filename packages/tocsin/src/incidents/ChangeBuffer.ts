import { Cause, Effect } from "effect"
import type { IncidentChange } from "./IncidentChange.ts"

/**
 * What one subscriber has not taken yet: at most `capacity` changes, of which the oldest give way,
 * so that a subscriber that is slow or stuck costs a bounded amount of memory and holds nobody up.
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

  /** Adds a change; drops the oldest where there is no room. */
  offer(change: Omit<IncidentChange, "missed">): void {
    if (this.#changes.length === this.#capacity) {
      this.#changes.shift()
      this.#missed += 1
    }
    this.#changes.push(change)
    this.#wake?.()
  }

  /** Says that nothing more comes: what is there can still be taken. */
  end(): void {
    this.#hasEnded = true
    this.#wake?.()
  }

  /**
   * Takes the oldest change, or waits for one; done when there is none and nothing more comes. One
   * taker at a time.
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

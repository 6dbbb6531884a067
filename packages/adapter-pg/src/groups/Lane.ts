import { Effect } from "effect"

/**
 * What waits for one worker, first come, first served. There is no timer: a worker that waits starts with the first item,
 * and what arrives while it is at work is its next group. As long as what callers have under way, which whoever lets them
 * in bounds (adapter-http).
 */
export class Lane<Item> {
  readonly #waiting = new Set<Item>()
  #wake: (() => void) | undefined
  #rest: (() => void) | undefined
  #isAtRest = true

  add(item: Item): void {
    this.#waiting.add(item)
    this.#wake?.()
  }

  /** Takes back what no group has taken yet. */
  remove(item: Item): void {
    this.#waiting.delete(item)
  }

  /** The one that has waited longest; it leaves the lane. */
  take(): Item | undefined {
    for (const item of this.#waiting) {
      this.#waiting.delete(item)
      return item
    }
    return undefined
  }

  /** All that wait; they leave the lane. */
  takeAll(): ReadonlyArray<Item> {
    const items = Array.from(this.#waiting)
    this.#waiting.clear()
    return items
  }

  /** Runs groups, which take their items themselves, for as long as it is not interrupted. */
  work(runGroup: Effect.Effect<void>): Effect.Effect<never> {
    return Effect.forever(Effect.andThen(this.#someWait, runGroup))
  }

  /** Waits until nothing waits and no group runs. */
  readonly atRest: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#isAtRest) return resume(Effect.void)
    this.#rest = () => resume(Effect.void)
  })

  readonly #someWait: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#waiting.size > 0) return resume(Effect.void)
    this.#isAtRest = true
    this.#rest?.()
    this.#wake = () => {
      this.#wake = undefined
      this.#isAtRest = false
      resume(Effect.void)
    }
  })
}

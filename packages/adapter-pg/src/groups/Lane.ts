import { Effect } from "effect"

/** How many groups of a lane are under way at a time. */
export interface LaneWidth {
  readonly groups: number
  /** So many items have to wait for a group to begin beside another one; the first begins with one. */
  readonly besideFrom: number
}

const ONE_AT_A_TIME: LaneWidth = { groups: 1, besideFrom: 1 }

/**
 * What waits to be done in groups, first come, first served. There is no timer: a lane at rest starts with the first item,
 * and what arrives while as many groups are at work as may be is the next one. As long as what callers have under way, which
 * whoever lets them in bounds (adapter-http).
 */
export class Lane<Item> {
  readonly #width: LaneWidth
  #waiting = new Set<Item>()
  #running = 0
  /** Workers that wait for their turn. */
  readonly #idle: Array<() => void> = []
  #rest: (() => void) | undefined

  constructor(width = ONE_AT_A_TIME) {
    this.#width = width
  }

  add(item: Item): void {
    this.#waiting.add(item)
    this.#wake()
  }

  /** Gives items back that were taken before all those that wait. */
  putBack(items: Iterable<Item>): void {
    this.#waiting = new Set([...items, ...this.#waiting])
    this.#wake()
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
  work(runGroup: Effect.Effect<void>): Effect.Effect<void> {
    const worker = Effect.forever(
      Effect.andThen(
        this.#turn,
        Effect.ensuring(
          runGroup,
          Effect.sync(() => this.#end()),
        ),
      ),
    )
    const workers = Array.from({ length: this.#width.groups }, () => worker)
    return Effect.all(workers, { concurrency: "unbounded", discard: true })
  }

  /** Waits until nothing waits and no group runs. */
  readonly atRest: Effect.Effect<void> = Effect.callback((resume) => {
    this.#rest = () => resume(Effect.void)
    this.#noteRest()
  })

  readonly #turn: Effect.Effect<void> = Effect.callback((resume) => {
    const begin = () => {
      this.#running += 1
      resume(Effect.void)
    }
    if (this.#mayBegin()) begin()
    else this.#idle.push(begin)
  })

  #mayBegin(): boolean {
    const { groups, besideFrom } = this.#width
    const least = this.#running === 0 ? 1 : besideFrom
    return this.#running < groups && this.#waiting.size >= least
  }

  #wake(): void {
    if (this.#mayBegin()) this.#idle.pop()?.()
  }

  #end(): void {
    this.#running -= 1
    this.#wake()
    this.#noteRest()
  }

  #noteRest(): void {
    if (this.#waiting.size === 0 && this.#running === 0) this.#rest?.()
  }
}

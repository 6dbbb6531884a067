import { LinkedQueue, type QueueNode } from "@tocsin/core/kernel/engine/LinkedQueue"
import { Effect } from "effect"

/** How many groups of a lane run at a time. */
export interface LaneWidth {
  readonly groups: number
  /** How many items must wait for a group to begin beside another one. The first group begins with one. */
  readonly besideFrom: number
}

const ONE_AT_A_TIME: LaneWidth = { groups: 1, besideFrom: 1 }

/** A caller leaves its place to withdraw its item. */
interface Called {
  readonly caller: { place: QueueNode | undefined }
}

/** Items that wait to be done in groups, first come, first served. An idle lane starts immediately. */
export class Lane<Item extends Called> {
  readonly #width: LaneWidth
  readonly #waiting = new LinkedQueue<Item>()
  #running = 0
  /** So many of the first ones wait for the end of a running group. */
  #held = 0
  readonly #idle: Array<() => void> = []
  #rest: (() => void) | undefined

  constructor(width = ONE_AT_A_TIME) {
    this.#width = width
  }

  add(item: Item): void {
    item.caller.place = this.#waiting.add(item)
    this.#wake()
  }

  /** Puts items that a group took in front of all that wait. No group begins beside a running one for them alone. */
  putBack(items: ReadonlyArray<Item>): void {
    for (const item of items.toReversed()) item.caller.place = this.#waiting.addFirst(item)
    this.#held = items.length
  }

  /** A later group may take the items that were put back. */
  release(): void {
    this.#held = 0
    this.#wake()
  }

  take(): Item | undefined {
    return this.#waiting.take()
  }

  takeAll(): ReadonlyArray<Item> {
    return this.#waiting.takeAll()
  }

  /** Runs groups, which take their items themselves, until it is interrupted. */
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
    if (this.#running === 0) return this.#waiting.size > 0
    return this.#running < groups && this.#waiting.size - this.#held >= besideFrom
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

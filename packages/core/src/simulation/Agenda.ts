import type { Instant } from "../contract/Instant.ts"

interface Entry<Key> {
  readonly at: Instant
  readonly key: Key
}

/** What is to be done when: one moment for each key, found in the order of time. */
export class Agenda<Key> {
  readonly #moments = new Map<Key, Instant>()
  /** A binary heap. Moved and removed entries stay until they come up. */
  readonly #heap: Array<Entry<Key>> = []

  /** Sets or moves the moment of a key; without one, removes the key. */
  set(key: Key, at: Instant | undefined): void {
    if (this.#moments.get(key) === at) return
    if (at === undefined) this.#moments.delete(key)
    else {
      this.#moments.set(key, at)
      this.#push({ at, key })
    }
  }

  keys(): IterableIterator<Key> {
    return this.#moments.keys()
  }

  /** The earliest moment. */
  get next(): Instant | undefined {
    return this.#first()?.at
  }

  /** Removes and returns the keys whose moment has come, the earliest first. */
  take(until: Instant): ReadonlyArray<Key> {
    const taken: Array<Key> = []
    for (let first = this.#first(); first !== undefined && first.at <= until; first = this.#first()) {
      taken.push(first.key)
      this.#moments.delete(first.key)
    }
    return taken
  }

  #first(): Entry<Key> | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#moments.get(first.key) === first.at) return first
      this.#pop()
    }
    return undefined
  }

  #push(entry: Entry<Key>): void {
    const heap = this.#heap
    let place = heap.push(entry) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = heap[above]
      if (parent === undefined || parent.at <= entry.at) break
      heap[place] = parent
      place = above
    }
    heap[place] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let place = 0
    for (;;) {
      const left = heap[2 * place + 1]
      const right = heap[2 * place + 2]
      const least = right !== undefined && left !== undefined && right.at < left.at ? right : left
      if (least === undefined || last.at <= least.at) break
      heap[place] = least
      place = 2 * place + (least === left ? 1 : 2)
    }
    heap[place] = last
  }
}

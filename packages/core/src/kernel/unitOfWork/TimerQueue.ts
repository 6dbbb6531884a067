import type { Instant } from "@tocsin/contract/formats/Instant"

/** A binary heap: the item that is before all others comes first. */
export class Heap<Item> {
  readonly #items: Array<Item> = []
  readonly #isBefore: (a: Item, b: Item) => boolean

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore
  }

  /** Removes items from the top until one passes, which stays, and returns that. */
  firstThat(passes: (item: Item) => boolean): Item | undefined {
    for (let first = this.#items[0]; first !== undefined; first = this.#items[0]) {
      if (passes(first)) return first
      this.pop()
    }
    return undefined
  }

  push(item: Item): void {
    const items = this.#items
    let place = items.length
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = items[above]
      if (parent === undefined || !this.#isBefore(item, parent)) break
      items[place] = parent
      place = above
    }
    items[place] = item
  }

  pop(): void {
    const items = this.#items
    const last = items.pop()
    if (last === undefined || items.length === 0) return
    let place = 0
    for (;;) {
      const [left, right] = [items[2 * place + 1], items[2 * place + 2]]
      if (left === undefined) break
      const isRight = right !== undefined && this.#isBefore(right, left)
      const below = isRight ? right : left
      if (!this.#isBefore(below, last)) break
      items[place] = below
      place = 2 * place + (isRight ? 2 : 1)
    }
    items[place] = last
  }
}

interface Entry<Key> {
  readonly at: Instant
  readonly key: Key
  /** Orders the entries of one moment. */
  readonly order: number | string
}

const isBefore = (a: Entry<unknown>, b: Entry<unknown>): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order)

/**
 * Timers, one for each key, found in the order of time. Those of one moment are found in the order of
 * their texts, else in the order in which they were set.
 */
export class TimerQueue<Key> {
  readonly #entries = new Map<Key, Entry<Key>>()
  /** Moved and removed entries stay until they come up. */
  readonly #heap = new Heap<Entry<Key>>(isBefore)
  readonly #textOf: ((key: Key) => string) | undefined
  #lastOrder = 0

  constructor(textOf?: (key: Key) => string) {
    this.#textOf = textOf
  }

  /** Schedules a key, or unschedules it without a moment. */
  set(key: Key, at: Instant | undefined): void {
    if (at === undefined) {
      this.#entries.delete(key)
      return
    }
    if (this.#entries.get(key)?.at === at) return
    const entry = { at, key, order: this.#textOf?.(key) ?? (this.#lastOrder += 1) }
    this.#entries.set(key, entry)
    this.#heap.push(entry)
  }

  keys(): IterableIterator<Key> {
    return this.#entries.keys()
  }

  get next(): Instant | undefined {
    return this.#first()?.at
  }

  /** Removes and returns the keys whose moment has come, the earliest first. */
  take(until: Instant): ReadonlyArray<Key> {
    const taken: Array<Key> = []
    for (let first = this.#first(); first !== undefined && first.at <= until; first = this.#first()) {
      taken.push(first.key)
      this.#entries.delete(first.key)
    }
    return taken
  }

  /**
   * The rows of the keys whose moment has come, the earliest first, `limit` at most. Keys without a
   * row are passed over. `rowOf` sets nothing.
   */
  due<Row>(until: Instant, limit: number, rowOf: (key: Key) => Row | undefined): ReadonlyArray<Row> {
    const rows: Array<Row> = []
    this.#readWhile(({ at, key }) => {
      if (at > until) return false
      const row = rowOf(key)
      if (row !== undefined) rows.push(row)
      return rows.length < limit
    })
    return rows
  }

  nextAfter(moment: Instant): Instant | undefined {
    let next: Instant | undefined
    this.#readWhile(({ at }) => {
      if (at > moment) next = at
      return next === undefined
    })
    return next
  }

  /** Reads entries in their order until one ends it. */
  #readWhile(goesOn: (entry: Entry<Key>) => boolean): void {
    const read: Array<Entry<Key>> = []
    for (let first = this.#first(); first !== undefined; first = this.#first()) {
      read.push(first)
      this.#heap.pop()
      if (!goesOn(first)) break
    }
    for (const entry of read) this.#heap.push(entry)
  }

  #first(): Entry<Key> | undefined {
    return this.#heap.firstThat((entry) => this.#entries.get(entry.key) === entry)
  }
}

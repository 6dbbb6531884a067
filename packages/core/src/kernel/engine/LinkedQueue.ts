export interface QueueNode {
  /** Leaves the line; does nothing once the item has left or was taken. */
  readonly leave: () => void
}

class Link<Item> implements QueueNode {
  readonly item: Item
  line: LinkedQueue<Item> | undefined
  before: Link<Item> | undefined
  after: Link<Item> | undefined

  constructor(item: Item, line: LinkedQueue<Item>) {
    this.item = item
    this.line = line
  }

  leave(): void {
    this.line?.remove(this)
  }
}

/**
 * Items in the order of their arrival, which leave it from the front or from anywhere. For what comes
 * and goes with every request, instead of a Set or Map: whenever V8 makes a new table for one of
 * those, the old table refers to the new one. Once an old table is in the old generation, so is each
 * that follows, with all that was in it at that moment (docs/decisions/0030).
 */
export class LinkedQueue<Item> implements Iterable<Item> {
  #first: Link<Item> | undefined
  #last: Link<Item> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): Item | undefined {
    return this.#first?.item
  }

  add(item: Item): QueueNode {
    return this.#insert(new Link(item, this), this.#last, undefined)
  }

  addFirst(item: Item): QueueNode {
    return this.#insert(new Link(item, this), undefined, this.#first)
  }

  take(): Item | undefined {
    const link = this.#first
    if (link === undefined) return undefined
    this.remove(link)
    return link.item
  }

  takeAll(): ReadonlyArray<Item> {
    const items = Array.from(this)
    while (this.#first !== undefined) this.remove(this.#first)
    return items
  }

  remove(link: Link<Item>): void {
    const { before, after } = link
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    // A place that is kept must not keep its neighbours.
    link.before = undefined
    link.after = undefined
    link.line = undefined
    this.#size -= 1
  }

  #insert(link: Link<Item>, before: Link<Item> | undefined, after: Link<Item> | undefined): QueueNode {
    link.before = before
    link.after = after
    if (before === undefined) this.#first = link
    else before.after = link
    if (after === undefined) this.#last = link
    else after.before = link
    this.#size += 1
    return link
  }

  /** No item may leave meanwhile: iterate over a copy. */
  *[Symbol.iterator](): IterableIterator<Item> {
    for (let link = this.#first; link !== undefined; link = link.after) yield link.item
  }
}

/** Halves of a chunk that overflows are moved, and a page begins with a search in one. */
const CAPACITY = 512

/** What makes {@link SortedChunks}. */
interface Options<Item> {
  /** The order; 0 means the same item. */
  readonly compare: (a: Item, b: Item) => number
  /** The first items, in any order. */
  readonly items: ReadonlyArray<Item>
  /** Items in a chunk at most. */
  readonly capacity?: number
}

/**
 * Items in their order, without duplicates. Adding, removing and finding an item take the logarithm
 * of their number, and moving half a chunk. Chunks are not merged: those that lose items lose all of
 * them in time, because rows move on or expire.
 */
export class SortedChunks<Item> {
  readonly #compare: (a: Item, b: Item) => number
  readonly #capacity: number
  /** None of them is empty. */
  readonly #chunks: Array<Array<Item>> = []
  #size: number

  constructor({ capacity = CAPACITY, compare, items }: Options<Item>) {
    this.#compare = compare
    this.#capacity = capacity
    this.#size = items.length
    const sorted = items.toSorted(compare)
    for (let at = 0; at < sorted.length; at += capacity) this.#chunks.push(sorted.slice(at, at + capacity))
  }

  get size(): number {
    return this.#size
  }

  /** Adds an item, unless it is there. */
  add(item: Item): void {
    const isBelow = (other: Item): boolean => this.#compare(other, item) < 0
    const last = this.#chunks.at(-1)
    const newest = last?.at(-1)
    if (last === undefined || newest === undefined || isBelow(newest)) return this.#append(item, last)
    const index = this.#chunkFrom(isBelow)
    const chunk = this.#chunks[index]
    if (chunk === undefined) return
    const at = firstFrom(chunk, isBelow)
    const next = chunk[at]
    if (next !== undefined && this.#compare(next, item) === 0) return
    chunk.splice(at, 0, item)
    this.#size += 1
    if (chunk.length > this.#capacity) this.#chunks.splice(index + 1, 0, chunk.splice(chunk.length >> 1))
  }

  /** Removes an item, if it is there. */
  delete(item: Item): void {
    const isBelow = (other: Item): boolean => this.#compare(other, item) < 0
    const index = this.#chunkFrom(isBelow)
    const chunk = this.#chunks[index]
    if (chunk === undefined) return
    const at = firstFrom(chunk, isBelow)
    const found = chunk[at]
    if (found === undefined || this.#compare(found, item) !== 0) return
    chunk.splice(at, 1)
    this.#size -= 1
    if (chunk.length === 0) this.#chunks.splice(index, 1)
  }

  /**
   * Visits items from a place on, upward or downward, until a visit returns false. The place is
   * between the items that are below and the others.
   */
  walk(isBelow: (item: Item) => boolean, isUpward: boolean, visit: (item: Item) => boolean): void {
    const chunks = this.#chunks
    const step = isUpward ? 1 : -1
    let index = this.#chunkFrom(isBelow)
    let at = firstFrom(chunks[index] ?? [], isBelow)
    if (!isUpward && (at -= 1) < 0) at = (chunks[(index -= 1)]?.length ?? 0) - 1
    for (let chunk = chunks[index]; chunk !== undefined; chunk = chunks[index]) {
      for (let item = chunk[at]; item !== undefined; item = chunk[(at += step)]) if (!visit(item)) return
      index += step
      at = isUpward ? 0 : (chunks[index]?.length ?? 0) - 1
    }
  }

  /** Items that ascend, as new rows of a list by time, leave full chunks. */
  #append(item: Item, last: Array<Item> | undefined): void {
    if (last === undefined || last.length >= this.#capacity) this.#chunks.push([item])
    else last.push(item)
    this.#size += 1
  }

  /** The first chunk with an item that is not below; behind the last one if there is none. */
  #chunkFrom(isBelow: (item: Item) => boolean): number {
    let [low, high] = [0, this.#chunks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const greatest = this.#chunks[middle]?.at(-1)
      if (greatest !== undefined && isBelow(greatest)) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The first item that is not below; the length if there is none. */
const firstFrom = <Item>(chunk: ReadonlyArray<Item>, isBelow: (item: Item) => boolean): number => {
  let [low, high] = [0, chunk.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const item = chunk[middle]
    if (item !== undefined && isBelow(item)) low = middle + 1
    else high = middle
  }
  return low
}

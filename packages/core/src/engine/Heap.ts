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

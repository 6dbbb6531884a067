/**
 * A set of the names used last, in bounded memory. Names that were not used while half of `capacity` others were are
 * forgotten. Looking one up costs no reordering: there are two generations, and the older one is dropped whole.
 */
export class RecentNames {
  #young = new Set<string>()
  #old = new Set<string>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  has(name: string): boolean {
    if (this.#young.has(name)) return true
    if (!this.#old.has(name)) return false
    this.add(name)
    return true
  }

  add(name: string): void {
    if (this.#young.size >= this.#capacity / 2 && !this.#young.has(name)) {
      this.#old = this.#young
      this.#young = new Set()
    }
    this.#young.add(name)
  }

  /** How many names it holds, at most: one that was used again may count twice. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  delete(name: string): void {
    this.#young.delete(name)
    this.#old.delete(name)
  }
}

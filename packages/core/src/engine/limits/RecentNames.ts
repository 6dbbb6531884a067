/**
 * A set of recently used names in bounded memory, as two generations: the older one is dropped
 * whole, so that a lookup never reorders.
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

  /** An upper bound: a name in both generations counts twice. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  delete(name: string): void {
    this.#young.delete(name)
    this.#old.delete(name)
  }
}

/** Which severities an incident was announced at, and which of them it forgot. Ranks are positions in `Story`. */
export class Severities {
  announced = 0
  /** When it was first announced at a rank or worse. */
  readonly reached = new Map<number, number>()
  /** The ranks that it was announced at. */
  readonly #had = new Set<number>()
  /** Since when it has been below a rank. */
  readonly #left = new Map<number, number>()
  readonly #againAfter: number

  constructor(againAfter: number) {
    this.#againAfter = againAfter
  }

  announce(rank: number, at: number): void {
    this.announced = rank
    this.#had.add(rank)
    for (let one = 1; one <= rank; one++) {
      if (!this.reached.has(one)) this.reached.set(one, at)
      this.#left.delete(one)
    }
  }

  fall(rank: number, at: number): void {
    for (let one = rank + 1; one <= this.announced; one++) this.#left.set(one, at)
    this.announced = rank
    this.#had.add(rank)
  }

  /** Forgets what was left long ago. Says which rank, when, and as which rank its firings count. */
  *forget(at: number): Generator<{ readonly rank: number; readonly moment: number; readonly as: number }> {
    for (let rank = 3; rank > 1; rank--) {
      const moment = (this.#left.get(rank) ?? Infinity) + this.#againAfter
      if (at < moment) continue
      this.#left.delete(rank)
      this.reached.delete(rank)
      this.#had.delete(rank)
      let as = rank - 1
      while (as > 1 && !this.reached.has(as)) as -= 1
      yield { rank, moment, as }
    }
  }

  /** The ranks whose beginnings count for a receiver that knows a rank. */
  above(knows: number): ReadonlyArray<number> {
    return [1, 2, 3].filter(
      (rank) =>
        rank <= this.announced &&
        rank > knows &&
        (this.#had.has(rank) || rank === this.announced) &&
        this.reached.has(rank),
    )
  }

  /** Moments of the past count as moved. */
  setBack(moved: (at: number) => number): void {
    for (const times of [this.reached, this.#left]) for (const [rank, at] of times) times.set(rank, moved(at))
  }

  *moments(): Generator<number> {
    for (const left of this.#left.values()) yield left + this.#againAfter
  }
}

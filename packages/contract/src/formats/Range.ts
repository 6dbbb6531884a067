const RANGE = /^(@)?(?:(~|-?\d+(?:\.\d+)?)?(:))?(-?\d+(?:\.\d+)?)?$/

/**
 * A threshold in the notation of the plugins: `10` is bad outside 0 to 10, `10:` below 10, `~:10`
 * above 10, `10:20` outside, and `@10:20` inside.
 */
export class Range {
  readonly text: string
  readonly #low: number
  readonly #high: number
  readonly #isInside: boolean

  private constructor(text: string, [low, high]: readonly [number, number], isInside: boolean) {
    this.text = text
    this.#low = low
    this.#high = high
    this.#isInside = isInside
  }

  /** `undefined` for what is no range. */
  static parse(text: string): Range | undefined {
    const match = RANGE.exec(text)
    const [, inside, start, colon, end] = match ?? []
    if (match === null || (start === undefined && end === undefined)) return undefined
    const low = start === "~" ? Number.NEGATIVE_INFINITY : Number(start ?? 0)
    const high = end === undefined ? Number.POSITIVE_INFINITY : Number(end)
    if (low > high || (colon === undefined && end === undefined)) return undefined
    return new Range(text, [low, high], inside === "@")
  }

  /** Whether a value is bad. Both ends belong to the range. */
  isBad(value: number): boolean {
    const isWithin = value >= this.#low && value <= this.#high
    return this.#isInside ? isWithin : !isWithin
  }

  /** Whether every value that is bad by this range is bad by the other, which has more: this one then never shows. */
  isInside(other: Range): boolean {
    const ends = [this.#low, this.#high, other.#low, other.#high].filter(Number.isFinite)
    const sorted = ends.toSorted((a, b) => a - b)
    const values = sorted.flatMap((end, at) => [end, (end + (sorted[at + 1] ?? end + 2)) / 2])
    const all = [...values, (sorted[0] ?? 0) - 1]
    return (
      all.every((value) => !this.isBad(value) || other.isBad(value)) &&
      all.some((value) => !this.isBad(value) && other.isBad(value))
    )
  }

  toJSON(): string {
    return this.text
  }
}

import { PART_KINDS } from "./NumberPart.ts"
import type { Span } from "../../kernel/ports/NumberStorage.ts"

// A row of numbers for each series, as long as a line of the processor's cache: most results change nothing else.
const START = 0
const COUNT = 1
const LEAST = 2
const MOST = 3
const MEAN = 4
const LAST = 5
const LAST_AT = 6
const STATED_AT = 7
const FIELDS = 8
const FIRST_ROWS = 64
const NEVER = Number.NEGATIVE_INFINITY
const { span: LENGTH } = PART_KINDS.hour

/** When each series was last stated, and the 5 minutes that took its last value. */
export class OpenSpans {
  #fields = new Float64Array(FIRST_ROWS * FIELDS)
  #rows = 0
  readonly #free: Array<number> = []

  /** A row for a series. */
  add(): number {
    const row = this.#free.pop() ?? this.#rows++
    const { length } = this.#fields
    if (row * FIELDS === length) {
      const fields = new Float64Array(2 * length)
      fields.set(this.#fields)
      this.#fields = fields
    }
    this.#fields.fill(NEVER, row * FIELDS, (row + 1) * FIELDS)
    return row
  }

  remove(row: number): void {
    this.#free.push(row)
  }

  statedAt(row: number): number {
    return this.#fields[row * FIELDS + STATED_AT] ?? NEVER
  }

  state(row: number, at: number): void {
    this.#fields[row * FIELDS + STATED_AT] = at
  }

  /** Adds a value to a span that is open and has its moment. */
  record(row: number, value: number, at: number): boolean {
    const fields = this.#fields
    const first = row * FIELDS
    const start = fields[first + START] ?? NEVER
    if (at < start || at >= start + LENGTH) return false
    const count = (fields[first + COUNT] ?? 0) + 1
    const least = Math.min(fields[first + LEAST] ?? value, value)
    const most = Math.max(fields[first + MOST] ?? value, value)
    const mean = (fields[first + MEAN] ?? value) * ((count - 1) / count) + value / count
    fields[first + COUNT] = count
    fields[first + LEAST] = least
    fields[first + MOST] = most
    // Rounding must not move the mean of equal values.
    fields[first + MEAN] = Math.min(most, Math.max(least, mean))
    if (at < (fields[first + LAST_AT] ?? at)) return true
    fields[first + LAST] = value
    fields[first + LAST_AT] = at
    return true
  }

  /** Opens the span that begins at `start`, with its first value. */
  open(row: number, start: number, value: number, at: number): void {
    this.#fields.set([start, 1, value, value, value, value, at], row * FIELDS)
  }

  /** The last value of the span that is open, and when it was measured. */
  lastOf(row: number): { readonly value: number; readonly at: number } | undefined {
    const first = row * FIELDS
    if ((this.#fields[first + START] ?? NEVER) === NEVER) return undefined
    return { value: this.#fields[first + LAST] ?? 0, at: this.#fields[first + LAST_AT] ?? NEVER }
  }

  /** Closes the span that is open, and gives it with its start. */
  close(row: number): (Span & { readonly start: number }) | undefined {
    const [start = NEVER, count = 0, least = 0, most = 0, mean = 0, last = 0, lastAt = 0] =
      this.#fields.subarray(row * FIELDS)
    this.#fields[row * FIELDS + START] = NEVER
    return start === NEVER
      ? undefined
      : { start, count, least, most, mean, last, lastAt: (lastAt - start) / LENGTH }
  }
}

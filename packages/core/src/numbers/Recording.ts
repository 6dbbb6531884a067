import { merge, type Span, type Spans } from "./Span.ts"

// A server holds a span as numbers in a row, which a value changes in place: most results change nothing else. A plain
// array takes half of the memory of a typed one, with its buffer.
const COUNT = 0
const LEAST = 1
const MOST = 2
const MEAN = 3
const LAST = 4
const LAST_AT = 5
const FIELDS = 6

/** The spans of one series in one hour or day, as its values arrive. */
export class Recording {
  readonly #fields: Array<number>

  constructor(places: number) {
    this.#fields = Array.from({ length: places * FIELDS }, () => 0)
  }

  /** Adds a value to the span at a place; `at` is its moment, as a part of the span's time. */
  add(place: number, value: number, at: number): void {
    const fields = this.#fields
    const first = place * FIELDS
    const count = (fields[first + COUNT] ?? 0) + 1
    fields[first + COUNT] = count
    if (count === 1) {
      fields.fill(value, first + LEAST, first + LAST_AT)
      fields[first + LAST_AT] = at
      return
    }
    const least = Math.min(fields[first + LEAST] ?? value, value)
    const most = Math.max(fields[first + MOST] ?? value, value)
    fields[first + LEAST] = least
    fields[first + MOST] = most
    const mean = (fields[first + MEAN] ?? value) * ((count - 1) / count) + value / count
    fields[first + MEAN] = Math.min(most, Math.max(least, mean))
    if (at < (fields[first + LAST_AT] ?? at)) return
    fields[first + LAST] = value
    fields[first + LAST_AT] = at
  }

  /** Adds what was stored before: its values came first. */
  addSpans(spans: Spans): void {
    for (const [place, span] of spans.entries()) {
      const merged = merge(span, this.#spanAt(place))
      if (merged === undefined) continue
      const { count, last, lastAt, least, mean, most } = merged
      this.#fields.splice(place * FIELDS, FIELDS, count, least, most, mean, last, lastAt)
    }
  }

  get spans(): Spans {
    return Array.from({ length: this.#fields.length / FIELDS }, (_, place) => this.#spanAt(place))
  }

  #spanAt(place: number): Span | undefined {
    const first = place * FIELDS
    const [count = 0, least = 0, most = 0, mean = 0, last = 0, lastAt = 0] = this.#fields.slice(
      first,
      first + FIELDS,
    )
    return count === 0 ? undefined : { count, least, most, mean, last, lastAt }
  }
}

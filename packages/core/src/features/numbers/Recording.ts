import { merge } from "./Span.ts"
import type { Span, Spans } from "../../kernel/ports/NumberStorage.ts"

// A plain array takes half of the memory of a typed one, with its buffer, and less than objects.
const FIELDS = 6
const LAST = 4
const LAST_AT = 5

/** The spans of one series in one hour or day. */
export class Recording {
  readonly #places: number
  /** Up to the last span with values: most servers have an hour for each check, and most hours are young. */
  readonly #fields: Array<number> = []

  constructor(places: number) {
    this.#places = places
  }

  /** Adds values at a place, later ones than it has. */
  add(place: number, span: Span | undefined): void {
    this.#set(place, merge(this.#spanAt(place), span))
  }

  /** Adds what was stored before: its values came first. */
  addStored(spans: Spans): void {
    for (const [place, span] of spans.entries()) this.#set(place, merge(span, this.#spanAt(place)))
  }

  /** How many values it has. */
  get count(): number {
    let count = 0
    for (let place = 0; place < this.#fields.length; place += FIELDS) count += this.#fields[place] ?? 0
    return count
  }

  /** The place of the last value, as a part of which it lies later, and the value. */
  get last(): { readonly place: number; readonly value: number } | undefined {
    for (let first = this.#fields.length - FIELDS; first >= 0; first -= FIELDS) {
      if ((this.#fields[first] ?? 0) === 0) continue
      const [value = 0, lastAt = 0] = [this.#fields[first + LAST], this.#fields[first + LAST_AT]]
      return { place: first / FIELDS + lastAt, value }
    }
    return undefined
  }

  get spans(): Spans {
    return Array.from({ length: this.#places }, (_, place) => this.#spanAt(place))
  }

  #set(place: number, span: Span | undefined): void {
    if (span === undefined) return
    const { count, last, lastAt, least, mean, most } = span
    while (this.#fields.length < place * FIELDS) this.#fields.push(0)
    this.#fields.splice(place * FIELDS, FIELDS, count, least, most, mean, last, lastAt)
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

const MILLIS_HEX_DIGITS = 12
const SECOND_CHARACTERS = 20
const MICROS_DIGITS = 6
const COUNTER_MASK = 0xfff

/**
 * The new part of every batch, as the bytes that are written into a request: a time that only moves
 * forward, and the first half of its event ids. Kept as bytes because a batch of fifty must cost
 * microseconds.
 */
export class Stamp {
  /** `2026-01-31T12:34:56.123456Z` */
  readonly time = Buffer.alloc(SECOND_CHARACTERS + MICROS_DIGITS + 1)
  /** The fraction of `time`. */
  readonly micros = this.time.subarray(SECOND_CHARACTERS, SECOND_CHARACTERS + MICROS_DIGITS)
  /** The first 18 characters of a UUIDv7: its milliseconds, and a counter. */
  readonly idPrefix = Buffer.from("00000000-0000-7000")
  #micros = 0
  #second = 0
  #millisecond = 0
  #counter = 0

  /** Moves to the present, and at least a microsecond on. */
  advance(): void {
    const now = Math.floor((performance.timeOrigin + performance.now()) * 1000)
    this.#micros = Math.max(this.#micros + 1, now)
    const second = Math.floor(this.#micros / 1_000_000)
    if (second !== this.#second) {
      this.#second = second
      this.time.write(new Date(second * 1000).toISOString().replace("000Z", "000000Z"), "latin1")
    }
    let fraction = this.#micros - second * 1_000_000
    for (let index = MICROS_DIGITS - 1; index >= 0; index -= 1) {
      const rest = Math.floor(fraction / 10)
      this.micros[index] = 48 + fraction - rest * 10
      fraction = rest
    }
    this.#advanceId()
  }

  #advanceId(): void {
    const millisecond = Math.floor(this.#micros / 1000)
    if (millisecond !== this.#millisecond) {
      this.#millisecond = millisecond
      const hex = millisecond.toString(16).padStart(MILLIS_HEX_DIGITS, "0")
      this.idPrefix.write(`${hex.slice(0, 8)}-${hex.slice(8)}`, "latin1")
    }
    this.#counter = (this.#counter + 1) & COUNTER_MASK
    this.idPrefix.write(this.#counter.toString(16).padStart(3, "0"), 15, "latin1")
  }
}

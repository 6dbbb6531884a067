const BUCKETS_PER_E_FOLD = 100
const BUCKETS = 2400

/** How long requests took, to 1 %, from 1 µs to hours, in constant space. */
export class LatencyHistogram {
  readonly #counts = new Float64Array(BUCKETS)
  #total = 0

  record(millis: number): void {
    const bucket = Math.floor(Math.log(Math.max(millis * 1000, 1)) * BUCKETS_PER_E_FOLD)
    const index = Math.min(bucket, BUCKETS - 1)
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#total += 1
  }

  get count(): number {
    return this.#total
  }

  /**
   * The time in milliseconds that this part (0 to 1) of the requests did not exceed; 0 when there
   * were none.
   */
  quantile(part: number): number {
    let left = Math.ceil(this.#total * part)
    if (left === 0) return 0
    const index = this.#counts.findIndex((count) => (left -= count) <= 0)
    return Math.exp((index + 0.5) / BUCKETS_PER_E_FOLD) / 1000
  }
}

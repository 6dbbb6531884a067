import { ByLabels } from "./ByLabels.ts"
import type { MetricDefinition } from "./MetricDefinition.ts"
import type { Distribution } from "./MetricFamily.ts"

/** How often values fell into which bucket. */
export class Histogram {
  readonly #bounds: ReadonlyArray<number>
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: ReadonlyArray<number>) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  /** Notes a value; one below 0, which only a clock that was set back makes, counts as 0. */
  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    // Few bounds, and most values are small: faster than halving.
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    if (value > 0) this.#sum += value
  }

  read(): Distribution {
    return { counts: Array.from(this.#counts), sum: this.#sum }
  }
}

/** The histograms of one metric, one for each combination of its labels' values. */
export class Histograms extends ByLabels<Histogram> {
  constructor(definition: MetricDefinition) {
    super(definition, () => new Histogram(definition.buckets))
  }
}

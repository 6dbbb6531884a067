import type { Distribution, MetricDefinition, MetricFamily, Reading } from "./Metric.ts"

/** What is measured of one metric: an instrument for each combination of its labels' values. */
class ByLabels<Instrument extends { readonly read: () => Reading["value"] }> {
  readonly #definition: MetricDefinition
  readonly #make: () => Instrument
  readonly #instruments = new Map<
    string,
    { readonly labels: ReadonlyArray<string>; readonly instrument: Instrument }
  >()

  constructor(definition: MetricDefinition, make: () => Instrument) {
    this.#definition = definition
    this.#make = make
    if (definition.labels.length === 0) this.of()
  }

  /** The instrument of these values, in the order of the definition's labels; made if there is none yet. */
  of(...labels: ReadonlyArray<string>): Instrument {
    const name = labels.join("\0")
    const found = this.#instruments.get(name)
    if (found !== undefined) return found.instrument
    const instrument = this.#make()
    this.#instruments.set(name, { labels, instrument })
    return instrument
  }

  read(): MetricFamily {
    const readings = Array.from(this.#instruments.values(), ({ labels, instrument }) => ({
      labels,
      value: instrument.read(),
    }))
    return { definition: this.#definition, readings }
  }
}

/** A number that only grows. Adding to it is one addition: whoever counts often keeps it. */
export class Counter {
  value = 0

  read(): number {
    return this.value
  }
}

/** The counters of one metric, one for each combination of its labels' values. */
export class Counters extends ByLabels<Counter> {
  constructor(definition: MetricDefinition) {
    super(definition, () => new Counter())
  }

  /** The counters of known values of the only label: those of what has not happened yet are 0, and so can be compared. */
  forEach<const Value extends string>(values: ReadonlyArray<Value>): Readonly<Record<Value, Counter>> {
    const counters = values.map((value) => [value, this.of(value)] as const)
    // One entry for each value.
    return Object.fromEntries(counters) as Record<Value, Counter>
  }
}

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

export interface MetricDefinition<
  Type extends "counter" | "gauge" | "histogram" = "counter" | "gauge" | "histogram",
  Value extends string = string,
> {
  /** By Prometheus's conventions: base units, the unit last, `_total` for counters. */
  readonly name: string
  readonly type: Type
  /** One sentence without a full stop. */
  readonly help: string
  /** Names of labels. Each has few values, known beforehand or set by the operator. */
  readonly labels: ReadonlyArray<string>
  /** The values of the only label, where all are there from the first scrape on. */
  readonly values?: ReadonlyArray<Value> | undefined
  /** Upper bounds of a histogram's buckets, ascending, without the last one, +Inf. */
  readonly buckets: ReadonlyArray<number>
}

type Labels = MetricDefinition["labels"]

export const counter = <const Value extends string = never>(
  name: string,
  help: string,
  labels: Labels = [],
  values?: ReadonlyArray<Value>,
): MetricDefinition<"counter", Value> => ({ name, type: "counter", help, labels, values, buckets: [] })
export const gauge = (name: string, help: string, labels?: Labels): MetricDefinition<"gauge", never> => ({
  ...counter(name, help, labels),
  type: "gauge",
})
export const histogram = (
  name: string,
  help: string,
  buckets: MetricDefinition["buckets"],
  labels?: Labels,
): MetricDefinition<"histogram", never> => ({ ...counter(name, help, labels), type: "histogram", buckets })

export interface Distribution {
  /** Values per bucket, not cumulative; one more than there are bounds. */
  readonly counts: ReadonlyArray<number>
  readonly sum: number
}

export interface Reading {
  /** In the order of the definition's labels. */
  readonly labels: ReadonlyArray<string>
  readonly value: number | Distribution
}

export interface MetricFamily {
  readonly definition: MetricDefinition
  readonly readings: ReadonlyArray<Reading>
}

export const single = (definition: MetricDefinition, value: number): MetricFamily => ({
  definition,
  readings: [{ labels: [], value }],
})

export const several = (
  definition: MetricDefinition,
  values: ReadonlyArray<readonly [labels: ReadonlyArray<string>, value: number]>,
): MetricFamily => ({ definition, readings: values.map(([labels, value]) => ({ labels, value })) })

/** The instruments of one metric, one for each combination of label values. */
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

  /** By values in the order of the definition's labels; created if missing. */
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

/** A number that only grows. Hot paths keep the counter and add to its field. */
export class Counter {
  value = 0

  read(): number {
    return this.value
  }
}

export class Counters extends ByLabels<Counter> {
  constructor(definition: MetricDefinition) {
    super(definition, () => new Counter())
  }

  /** By the only label. Events that have not happened count 0, so that rates work from the first. */
  forEach<const Value extends string>(values: ReadonlyArray<Value>): Readonly<Record<Value, Counter>> {
    const counters = values.map((value) => [value, this.of(value)] as const)
    return Object.fromEntries(counters) as Record<Value, Counter>
  }
}

export class Histogram {
  readonly #bounds: ReadonlyArray<number>
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: ReadonlyArray<number>) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  /** Records a value; one below 0, from a clock set back, counts as 0. */
  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    // Few bounds, and most values are small: faster than a binary search.
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    if (value > 0) this.#sum += value
  }

  read(): Distribution {
    return { counts: Array.from(this.#counts), sum: this.#sum }
  }
}

export class Histograms extends ByLabels<Histogram> {
  constructor(definition: MetricDefinition) {
    super(definition, () => new Histogram(definition.buckets))
  }
}

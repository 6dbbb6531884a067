/** What a metric is: what is told of it, and what its values are told apart by. */
export interface MetricDefinition {
  /** By Prometheus' conventions: base units, the unit last, `_total` for what only grows. */
  readonly name: string
  readonly type: "counter" | "gauge" | "histogram"
  /** One sentence without a full stop. */
  readonly help: string
  /** Names of labels. Each has few values, all known beforehand or set by whoever runs the service. */
  readonly labels: ReadonlyArray<string>
  /** Upper bounds of a histogram's buckets, ascending; the last one, which takes all else, is not among them. */
  readonly buckets: ReadonlyArray<number>
}

interface Choices {
  readonly labels?: ReadonlyArray<string>
  readonly buckets?: ReadonlyArray<number>
}

const define =
  (type: MetricDefinition["type"]) =>
  (name: string, help: string, { labels = [], buckets = [] }: Choices = {}): MetricDefinition => ({
    name,
    type,
    help,
    labels,
    buckets,
  })

/** What only grows while the process lives. */
export const counter = define("counter")
/** What goes up and down. */
export const gauge = define("gauge")
/** How values spread. */
export const histogram = define("histogram")

/** A histogram as it stands. */
export interface Distribution {
  /** How many values each bucket holds, those of smaller ones not included; one more than there are bounds. */
  readonly counts: ReadonlyArray<number>
  readonly sum: number
}

/** One value of a metric. */
export interface Reading {
  /** In the order of the definition's labels. */
  readonly labels: ReadonlyArray<string>
  readonly value: number | Distribution
}

/** A metric and its values at one moment. */
export interface MetricFamily {
  readonly definition: MetricDefinition
  readonly readings: ReadonlyArray<Reading>
}

/** A metric of one value. */
export const single = (definition: MetricDefinition, value: number): MetricFamily => ({
  definition,
  readings: [{ labels: [], value }],
})

/** A metric of one label, or of several whose values are given in their order. */
export const several = (
  definition: MetricDefinition,
  values: ReadonlyArray<readonly [labels: ReadonlyArray<string>, value: number]>,
): MetricFamily => ({ definition, readings: values.map(([labels, value]) => ({ labels, value })) })

/** The definition of a metric. */
export interface MetricDefinition {
  /** By Prometheus's conventions: base units, the unit last, `_total` for counters. */
  readonly name: string
  readonly type: "counter" | "gauge" | "histogram"
  /** One sentence without a full stop. */
  readonly help: string
  /** Names of labels. Each has few values, known beforehand or set by the operator. */
  readonly labels: ReadonlyArray<string>
  /** Upper bounds of a histogram's buckets, ascending, without the last one, +Inf. */
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

/** A metric that only grows while the process lives. */
export const counter = define("counter")
/** A metric that goes up and down. */
export const gauge = define("gauge")
/** A distribution of values. */
export const histogram = define("histogram")

/** The state of a histogram. */
export interface Distribution {
  /** Values per bucket, not cumulative; one more than there are bounds. */
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

/** A metric with one value. */
export const single = (definition: MetricDefinition, value: number): MetricFamily => ({
  definition,
  readings: [{ labels: [], value }],
})

/** A metric with values by label. */
export const several = (
  definition: MetricDefinition,
  values: ReadonlyArray<readonly [labels: ReadonlyArray<string>, value: number]>,
): MetricFamily => ({ definition, readings: values.map(([labels, value]) => ({ labels, value })) })

import type { MetricDefinition } from "./MetricDefinition.ts"

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

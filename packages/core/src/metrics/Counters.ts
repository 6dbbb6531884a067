import { ByLabels } from "./ByLabels.ts"
import type { MetricDefinition } from "./MetricDefinition.ts"

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

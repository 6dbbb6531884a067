import type { MetricDefinition } from "./MetricDefinition.ts"
import type { MetricFamily } from "./MetricFamily.ts"

/** A number that only grows. Adding to it is one addition: whoever counts often keeps it. */
export class Counter {
  value = 0
}

/** The counters of one metric, one for each combination of its labels' values. */
export class Counters {
  readonly #definition: MetricDefinition
  readonly #counters = new Map<
    string,
    { readonly labels: ReadonlyArray<string>; readonly counter: Counter }
  >()

  constructor(definition: MetricDefinition) {
    this.#definition = definition
    if (definition.labels.length === 0) this.of()
  }

  /** The counter of these values, in the order of the definition's labels; made if there is none yet. */
  of(...labels: ReadonlyArray<string>): Counter {
    const name = labels.join("\0")
    const found = this.#counters.get(name)
    if (found !== undefined) return found.counter
    const counter = new Counter()
    this.#counters.set(name, { labels, counter })
    return counter
  }

  /** The counters of known values of the only label: those of what has not happened yet are 0, and so can be compared. */
  forEach<const Value extends string>(values: ReadonlyArray<Value>): Readonly<Record<Value, Counter>> {
    const counters = values.map((value) => [value, this.of(value)] as const)
    // One entry for each value.
    return Object.fromEntries(counters) as Record<Value, Counter>
  }

  read(): MetricFamily {
    const readings = Array.from(this.#counters.values(), ({ labels, counter }) => ({
      labels,
      value: counter.value,
    }))
    return { definition: this.#definition, readings }
  }
}

import type { MetricDefinition } from "./MetricDefinition.ts"
import type { MetricFamily, Reading } from "./MetricFamily.ts"

/** What is measured of one metric: an instrument for each combination of its labels' values. */
export class ByLabels<Instrument extends { readonly read: () => Reading["value"] }> {
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

import { Context, Effect, Record, type Scope } from "effect"
import {
  type Counter,
  Counters,
  type Histogram,
  Histograms,
  type MetricDefinition,
  type MetricFamily,
} from "./Counters.ts"
import { storageMetrics } from "./storageMetrics.ts"

/** Reads at a scrape what is not counted as it happens. */
export type MetricSource = Effect.Effect<ReadonlyArray<MetricFamily>, unknown>

/** The metrics of one subject. */
export type MetricTable = Readonly<Record<string, MetricDefinition>>

type InstrumentOf<Definition> =
  Definition extends MetricDefinition<"histogram">
    ? Histograms
    : Definition extends MetricDefinition<"counter", infer Value>
      ? [Value] extends [never]
        ? Counters
        : Readonly<Record<Value, Counter>>
      : undefined

/** The instruments that count the metrics of a table; a scrape reads gauges. */
export type InstrumentsOf<Table> = { readonly [Name in keyof Table]: InstrumentOf<Table[Name]> }

/**
 * The counts of one service. A count is an addition to a field (effect's Metric looks up its state
 * in a registry by name and labels at each update). A scrape reads the fields and asks the sources.
 */
export class Instruments {
  readonly #all: Array<Counters | Histograms> = []
  readonly #opened = new Map<MetricTable, object>()
  readonly #sources = new Set<MetricSource>()

  /** Scrapes have the metrics of these tables from the first on; those of others once they are used. */
  constructor(tables: Readonly<Record<string, ReadonlyArray<MetricTable>>> = {}) {
    for (const table of Object.values(tables).flat()) this.of(table)
  }

  /** The instruments of a table: the same at each call. */
  of<Table extends MetricTable>(table: Table): InstrumentsOf<Table> {
    const opened = this.#opened.get(table) ?? Record.map(table, (definition) => this.#open(definition))
    this.#opened.set(table, opened)
    // It was made of this table.
    return opened as InstrumentsOf<Table>
  }

  /** Asks a source at each scrape until the scope closes. */
  addSource(source: MetricSource): Effect.Effect<void, never, Scope.Scope> {
    return Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => this.#sources.add(source)),
        () => Effect.sync(() => this.#sources.delete(source)),
      ),
    )
  }

  get sources(): ReadonlyArray<MetricSource> {
    return Array.from(this.#sources)
  }

  read(): ReadonlyArray<MetricFamily> {
    return this.#all.map((metric) => metric.read())
  }

  #open(definition: MetricDefinition) {
    if (definition.type === "gauge") return undefined
    const made = definition.type === "histogram" ? new Histograms(definition) : new Counters(definition)
    this.#all.push(made)
    return made instanceof Counters && definition.values !== undefined
      ? made.forEach(definition.values)
      : made
  }
}

/** The instruments of this service; unless provided, instruments that nothing reads. */
export const CurrentInstruments = Context.Reference<Instruments>(
  "@tocsin/core/kernel/engine/metrics/Instruments",
  {
    defaultValue: () => new Instruments(),
  },
)

/** Measures the commits of one path through a storage: size, duration, failures. */
export class CommitMeter {
  readonly #groupSize: Histogram
  readonly #duration: Histogram
  readonly #failures: Counter

  constructor(
    instruments: Instruments,
    { storage, path }: { readonly storage: string; readonly path: string },
  ) {
    const { commitDuration, groupFailures, groupSize } = instruments.of(storageMetrics)
    this.#groupSize = groupSize.of(storage, path)
    this.#duration = commitDuration.of(storage, path)
    this.#failures = groupFailures.of(storage, path)
  }

  /** Records a commit; `millis` since its transaction began. */
  committed(commands: number, millis: number): void {
    this.#groupSize.observe(commands)
    this.#duration.observe(millis / 1_000)
  }

  /** Records a rollback; its commands are decided again. */
  failed(): void {
    this.#failures.value += 1
  }
}

export const cacheCounters = (instruments: Instruments, storage: string) => {
  const { cacheLookups } = instruments.of(storageMetrics)
  return {
    hit: cacheLookups.of(storage, "hit"),
    miss: cacheLookups.of(storage, "miss"),
    stale: cacheLookups.of(storage, "stale"),
  }
}

import { Context, Effect, type Scope } from "effect"
import { heartbeatOutcomes } from "../../model/AgentRecord.ts"
import { enrolOutcomes } from "../../model/EnrolmentRecord.ts"
import { StorageFailure } from "../../ports/Storage.ts"
import {
  type Counter,
  Counters,
  type Histogram,
  Histograms,
  type MetricDefinition,
  type MetricFamily,
} from "./Counters.ts"
import { metricDefinitions as metrics } from "./metricDefinitions.ts"

/** Reads at a scrape what is not counted as it happens. */
export type MetricSource = Effect.Effect<ReadonlyArray<MetricFamily>, unknown>

/**
 * The counts of one service. A count is an addition to a field (effect's Metric looks up its state
 * in a registry by name and labels at each update). A scrape reads the fields and asks the sources.
 */
export class Instruments {
  readonly #all: Array<{ readonly read: () => MetricFamily }> = []
  readonly httpRequests = this.#counters(metrics.httpRequests)
  readonly httpDuration = this.#histograms(metrics.httpDuration)
  readonly failedAuthentications = this.#counters(metrics.failedAuthentications).of()
  readonly throttled = this.#counters(metrics.throttled).forEach(["failed_authentication", "unknown_key"])
  readonly heartbeats = this.#counters(metrics.heartbeats).forEach([
    ...heartbeatOutcomes,
    "rate_limited",
    "registration_limited",
  ])
  readonly enrolments = this.#counters(metrics.enrolments).forEach(enrolOutcomes)
  readonly signIns = this.#counters(metrics.signIns)
  readonly batches = this.#counters(metrics.batches).forEach([
    "applied",
    "agent_blocked",
    "agent_not_accepted",
  ])
  readonly results = this.#counters(metrics.results).forEach(["changed", "unchanged", "late", "known_event"])
  readonly numbersRefused = this.#counters(metrics.numbersRefused).forEach(["check", "agent", "all"])
  readonly numbersLost = this.#counters(metrics.numbersLost).of()
  readonly watchProbes = this.#counters(metrics.watchProbes)
  readonly integrationRequests = this.#counters(metrics.integrationRequests)
  readonly resultLag = this.#histograms(metrics.resultLag).of()
  readonly attempts = this.#counters(metrics.attempts)
  readonly attemptDuration = this.#histograms(metrics.attemptDuration)
  readonly deliveryDelay = this.#histograms(metrics.deliveryDelay)
  readonly givenUp = this.#counters(metrics.givenUp)
  readonly resends = this.#counters(metrics.resends)
  readonly policyVersionsRefused = this.#counters(metrics.policyVersionsRefused).of()
  readonly storageFailures = this.#counters(metrics.storageFailures).forEach(StorageFailure.literals)
  readonly groupSize = this.#histograms(metrics.groupSize)
  readonly commitDuration = this.#histograms(metrics.commitDuration)
  readonly groupFailures = this.#counters(metrics.groupFailures)
  readonly cacheLookups = this.#counters(metrics.cacheLookups)
  readonly agentsPassedOver = this.#counters(metrics.agentsPassedOver).forEach([
    "accept_all",
    "block_all",
    "dead_agents",
    "history",
    "remove_all",
  ])
  readonly #sources = new Set<MetricSource>()

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

  #counters(definition: MetricDefinition): Counters {
    const counters = new Counters(definition)
    this.#all.push(counters)
    return counters
  }

  #histograms(definition: MetricDefinition): Histograms {
    const histograms = new Histograms(definition)
    this.#all.push(histograms)
    return histograms
  }
}

/** The instruments of this service; unless provided, instruments that nothing reads. */
export const CurrentInstruments = Context.Reference<Instruments>("@tocsin/core/engine/metrics/Instruments", {
  defaultValue: () => new Instruments(),
})

/** Measures the commits of one path through a storage: size, duration, failures. */
export class CommitMeter {
  readonly #groupSize: Histogram
  readonly #duration: Histogram
  readonly #failures: Counter

  constructor(
    instruments: Instruments,
    { storage, way }: { readonly storage: string; readonly way: string },
  ) {
    this.#groupSize = instruments.groupSize.of(storage, way)
    this.#duration = instruments.commitDuration.of(storage, way)
    this.#failures = instruments.groupFailures.of(storage, way)
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

export const cacheCounters = ({ cacheLookups }: Instruments, storage: string) => ({
  hit: cacheLookups.of(storage, "hit"),
  miss: cacheLookups.of(storage, "miss"),
  stale: cacheLookups.of(storage, "stale"),
})

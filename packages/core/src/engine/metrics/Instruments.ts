import { Context, Effect, type Scope } from "effect"
import type { HeartbeatOutcome } from "../../admission/heartbeat.ts"
import type { BatchOutcome } from "../../checks/applyBatch.ts"
import type { EventOutcome } from "../../checks/applyEvent.ts"
import { StorageFailure } from "../../ports/Storage.ts"
import { Counters, Histograms } from "./Counters.ts"
import type { MetricFamily } from "./Metric.ts"
import { metricDefinitions as metrics } from "./metricDefinitions.ts"

/** Reads at a scrape what is not counted as it happens. */
export type MetricSource = Effect.Effect<ReadonlyArray<MetricFamily>, unknown>

type CountedHeartbeat = Exclude<HeartbeatOutcome, "unknown_key"> | "rate_limited" | "registration_limited"

const HEARTBEATS: Readonly<Record<CountedHeartbeat, true>> = {
  seen: true,
  pending: true,
  registered: true,
  replacement_registered: true,
  preseeded: true,
  blocked: true,
  superseded_key: true,
  key_of_another_agent: true,
  another_key_pending: true,
  too_many_pending_agents: true,
  rate_limited: true,
  registration_limited: true,
}
const THROTTLED = ["failed_authentication", "unknown_key"] as const
const BATCHES: Readonly<Record<BatchOutcome["outcome"], true>> = {
  applied: true,
  agent_blocked: true,
  agent_not_accepted: true,
}
const RESULTS: Readonly<Record<EventOutcome, true>> = {
  changed: true,
  unchanged: true,
  late: true,
  known_event: true,
}

const namesOf = <Name extends string>(names: Readonly<Record<Name, true>>): ReadonlyArray<Name> =>
  Object.keys(names) as Array<Name>

/**
 * What the parts of one service count as they work. A count is an addition to a field (effect's
 * Metric looks up its state in a registry by name and labels at each update). A scrape reads the
 * fields and asks the sources.
 */
export class Instruments {
  readonly httpRequests = new Counters(metrics.httpRequests)
  readonly httpDuration = new Histograms(metrics.httpDuration)
  readonly #failedAuthentications = new Counters(metrics.failedAuthentications)
  readonly failedAuthentications = this.#failedAuthentications.of()
  readonly #throttled = new Counters(metrics.throttled)
  readonly throttled = this.#throttled.forEach(THROTTLED)
  readonly #heartbeats = new Counters(metrics.heartbeats)
  readonly heartbeats = this.#heartbeats.forEach(namesOf(HEARTBEATS))
  readonly #batches = new Counters(metrics.batches)
  readonly batches = this.#batches.forEach(namesOf(BATCHES))
  readonly #results = new Counters(metrics.results)
  readonly results = this.#results.forEach(namesOf(RESULTS))
  readonly #resultLag = new Histograms(metrics.resultLag)
  readonly resultLag = this.#resultLag.of()
  readonly attempts = new Counters(metrics.attempts)
  readonly attemptDuration = new Histograms(metrics.attemptDuration)
  readonly deliveryDelay = new Histograms(metrics.deliveryDelay)
  readonly givenUp = new Counters(metrics.givenUp)
  readonly resends = new Counters(metrics.resends)
  readonly #storageFailures = new Counters(metrics.storageFailures)
  readonly storageFailures = this.#storageFailures.forEach(StorageFailure.literals)
  readonly groupSize = new Histograms(metrics.groupSize)
  readonly commitDuration = new Histograms(metrics.commitDuration)
  readonly groupFailures = new Counters(metrics.groupFailures)
  readonly cacheLookups = new Counters(metrics.cacheLookups)
  readonly #agentsPassedOver = new Counters(metrics.agentsPassedOver)
  readonly agentsPassedOver = this.#agentsPassedOver.forEach([
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

  /** All counts so far. */
  read(): ReadonlyArray<MetricFamily> {
    return [
      this.httpRequests,
      this.httpDuration,
      this.#failedAuthentications,
      this.#throttled,
      this.#heartbeats,
      this.#batches,
      this.#results,
      this.#resultLag,
      this.attempts,
      this.attemptDuration,
      this.deliveryDelay,
      this.givenUp,
      this.resends,
      this.#storageFailures,
      this.groupSize,
      this.commitDuration,
      this.groupFailures,
      this.cacheLookups,
      this.#agentsPassedOver,
    ].map((metric) => metric.read())
  }
}

/** The instruments of this service; unless provided, instruments that nothing reads. */
export const CurrentInstruments = Context.Reference<Instruments>("@tocsin/core/engine/metrics/Instruments", {
  defaultValue: () => new Instruments(),
})

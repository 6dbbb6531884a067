import { Context, Effect, type Scope } from "effect"
import type { EnrolOutcome } from "../../model/EnrolmentRecord.ts"
import type { HeartbeatOutcome } from "../../model/AgentRecord.ts"
import type { BatchOutcome, EventOutcome } from "../../model/CheckRecord.ts"
import { StorageFailure } from "../../ports/Storage.ts"
import { Counters, Histograms } from "./Counters.ts"
import type { MetricDefinition, MetricFamily } from "./Metric.ts"
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
  name_of_integration: true,
  another_key_pending: true,
  too_many_pending_agents: true,
  rate_limited: true,
  registration_limited: true,
}
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

const ENROLMENTS: Readonly<Record<EnrolOutcome, true>> = {
  enrolled: true,
  repeated: true,
  unknown_token: true,
  replacement_key: true,
  agent_blocked: true,
  agent_not_accepted: true,
}

const namesOf = <Name extends string>(names: Readonly<Record<Name, true>>): ReadonlyArray<Name> =>
  Object.keys(names) as Array<Name>

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
  readonly heartbeats = this.#counters(metrics.heartbeats).forEach(namesOf(HEARTBEATS))
  readonly enrolments = this.#counters(metrics.enrolments).forEach(namesOf(ENROLMENTS))
  readonly batches = this.#counters(metrics.batches).forEach(namesOf(BATCHES))
  readonly results = this.#counters(metrics.results).forEach(namesOf(RESULTS))
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

  /** All counts so far. */
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

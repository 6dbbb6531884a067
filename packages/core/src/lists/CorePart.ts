import type { Effect, Layer } from "effect"
import type { IncidentOptions } from "../heart/incidents/incidentOptions.ts"
import type { Chore, ChoreServices } from "../kernel/engine/commits/Chore.ts"
import type { RetentionOptions } from "../kernel/engine/commits/Retention.ts"
import type { MetricTable } from "../kernel/engine/metrics/Instruments.ts"

/** The part of a feature in the core: a plain object, of which features.ts makes the lists of this folder. */
export interface CorePart {
  /** Operators' actions, which the library has together with those of other features. */
  readonly operations?: { readonly layer: Layer.Any }
  /** Those of the operations that only read. */
  readonly lists?: Effect.Effect<object, unknown, unknown>
  readonly services?: Layer.Any
  /** A layer that services of others need. */
  readonly beneath?: Layer.Any
  /** Work in the background of each process. */
  readonly follows?: Layer.Any
  /** Work of processes that send notifications. */
  readonly delivers?: Layer.Any
  /** Work of servers. */
  readonly probes?: Layer.Any
  readonly chores?: (
    services: ChoreServices,
    incidents: IncidentOptions,
    retention: RetentionOptions,
  ) => ReadonlyArray<Chore>
  /** Its metrics, after their heading on the metrics page. */
  readonly metrics?: readonly [heading: string, table: MetricTable]
}

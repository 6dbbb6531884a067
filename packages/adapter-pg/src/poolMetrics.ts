import { metricDefinitions as metrics } from "@tocsin/core/engine/metrics/metricDefinitions"
import { several } from "@tocsin/core/engine/metrics/Metric"
import type { MetricSource } from "@tocsin/core/engine/metrics/Instruments"
import { Effect } from "effect"
import type { Database } from "./Database.ts"

/** Tells of the connections of pools, each by its name. */
export const poolMetrics = (pools: Readonly<Record<string, Database>>): MetricSource =>
  Effect.gen(function* () {
    const known = yield* Effect.forEach(Object.entries(pools), ([name, { pg }]) =>
      Effect.map(pg.poolStatus, (status) => ({ name, ...status })),
    )
    return [
      several(
        metrics.connections,
        known.flatMap(({ name, total, idle }) => [
          [[name, "in_use"], total - idle] as const,
          [[name, "idle"], idle] as const,
        ]),
      ),
      several(
        metrics.connectionsWaiting,
        known.map(({ name, waiting }) => [[name], waiting] as const),
      ),
    ]
  })

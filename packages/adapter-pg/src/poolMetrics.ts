import { gauge, several } from "@tocsin/core/engine/metrics/Metric"
import type { MetricSource } from "@tocsin/core/engine/metrics/Instruments"
import { Effect } from "effect"
import type { Database } from "./Database.ts"

/** Metrics that only PostgreSQL reports. */
export const poolMetricDefinitions = {
  connections: gauge("tocsin_postgres_connections", "Connections to PostgreSQL by pool and use", {
    labels: ["pool", "state"],
  }),
  connectionsWaiting: gauge(
    "tocsin_postgres_connections_waiting",
    "Callers waiting for a connection, by pool",
    {
      labels: ["pool"],
    },
  ),
}

/** Counts the connections of pools, by the pools' names. */
export const poolMetrics = (pools: Readonly<Record<string, Database>>): MetricSource =>
  Effect.gen(function* () {
    const known = yield* Effect.forEach(Object.entries(pools), ([name, { pg }]) =>
      Effect.map(pg.poolStatus, (status) => ({ name, ...status })),
    )
    return [
      several(
        poolMetricDefinitions.connections,
        known.flatMap(({ name, total, idle }) => [
          [[name, "in_use"], total - idle] as const,
          [[name, "idle"], idle] as const,
        ]),
      ),
      several(
        poolMetricDefinitions.connectionsWaiting,
        known.map(({ name, waiting }) => [[name], waiting] as const),
      ),
    ]
  })

import { processMetricDefinitions } from "@tocsin/adapter-http/metrics/processMetrics"
import { poolMetricDefinitions } from "@tocsin/adapter-pg/PgStorage"
import { fileMetricDefinitions } from "@tocsin/adapter-sqlite/fileMetrics"
import type { MetricDefinition } from "@tocsin/core/engine/metrics/Counters"
import { metricSubjects as ofCore } from "@tocsin/core/engine/metrics/metricDefinitions"

/**
 * All metrics by subject, in the order of the metrics page: the core's and those of each adapter.
 */
export const metricSubjects: Readonly<Record<string, ReadonlyArray<MetricDefinition>>> = {
  ...Object.fromEntries(Object.entries(ofCore).map(([title, of]) => [title, Object.values(of)])),
  PostgreSQL: Object.values(poolMetricDefinitions),
  SQLite: Object.values(fileMetricDefinitions),
  Process: processMetricDefinitions,
}

/** All metrics. */
export const metricDefinitions: ReadonlyArray<MetricDefinition> = Object.values(metricSubjects).flat()

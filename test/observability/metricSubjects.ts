import { processMetricDefinitions } from "@tocsin/adapter-http/metrics/processMetrics"
import { poolMetricDefinitions } from "@tocsin/adapter-pg/PgStorage"
import { fileMetricDefinitions } from "@tocsin/adapter-sqlite/fileMetrics"
import type { MetricDefinition } from "@tocsin/core/kernel/engine/metrics/Counters"
import { metricTables } from "@tocsin/core/lists/metricTables"
import { Record } from "effect"

/**
 * All metrics by subject, in the order of the metrics page: the core's and those of each adapter.
 */
export const metricSubjects: Readonly<Record<string, ReadonlyArray<MetricDefinition>>> = {
  ...Record.map(metricTables, (tables) => tables.flatMap((table) => Object.values(table))),
  PostgreSQL: Object.values(poolMetricDefinitions),
  SQLite: Object.values(fileMetricDefinitions),
  Process: processMetricDefinitions,
}

/** All metrics. */
export const metricDefinitions: ReadonlyArray<MetricDefinition> = Object.values(metricSubjects).flat()

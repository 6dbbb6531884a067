import type { MetricDefinition, MetricFamily, Reading } from "@tocsin/core/engine/metrics/Metric"
import { Effect, type Scope } from "effect"

/** A metric on its way between processes. */
export interface SentFamily {
  readonly name: string
  readonly type: MetricDefinition["type"]
  readonly readings: ReadonlyArray<Reading>
}

/** The metrics of a process, for the others. */
export interface OwnMetrics {
  readonly all: Effect.Effect<ReadonlyArray<MetricFamily>>
  /** Those that are counted as events happen: reading them asks no source. */
  readonly counted: Effect.Effect<ReadonlyArray<MetricFamily>>
}

/** What the processes on one port have together. */
export interface Together {
  /** Counters and histograms of all that have ever been, the asking one included. */
  readonly counts: ReadonlyArray<SentFamily>
  /** Of each other process that lives and answered in time. */
  readonly gaugesOfOthers: ReadonlyArray<ReadonlyArray<SentFamily>>
}

/** The other processes that serve on the same port, whose metrics belong to the same scrape. */
export interface Siblings {
  /** Answers the others with this process's metrics, and gives those of all. */
  readonly join: (
    own: OwnMetrics,
  ) => Effect.Effect<Effect.Effect<ReadonlyArray<MetricFamily>>, never, Scope.Scope>
}

/** A process alone. */
export const NO_SIBLINGS: Siblings = { join: ({ all }) => Effect.succeed(all) }

/** Metrics as they are sent. */
export const toSent = (families: ReadonlyArray<MetricFamily>): ReadonlyArray<SentFamily> =>
  families.map(({ definition: { name, type }, readings }) => ({ name, type, readings }))

const combined = (
  { ofSeveral }: MetricDefinition,
  a: Reading["value"],
  b: Reading["value"],
): Reading["value"] => {
  // Distributions come added up.
  if (typeof a !== "number" || typeof b !== "number") return a
  switch (ofSeveral) {
    case "sum":
      return a + b
    case "most":
      return Math.max(a, b)
    case "least":
      return Math.min(a, b)
  }
}

/**
 * The metrics of a process together with those of others, by labels. Where the counts of all are unknown,
 * they are left out: those of one process alone would look like a restart.
 */
export const withSiblings = (
  own: ReadonlyArray<MetricFamily>,
  together: Together | undefined,
): ReadonlyArray<MetricFamily> => {
  const gauges = own.filter(({ definition }) => definition.type === "gauge")
  if (together === undefined) return gauges
  const families = new Map<string, { definition: MetricDefinition; byLabels: Map<string, Reading> }>()
  for (const { definition } of own) families.set(definition.name, { definition, byLabels: new Map() })
  for (const { name, readings } of [toSent(gauges), together.counts, ...together.gaugesOfOthers].flat()) {
    const family = families.get(name)
    if (family === undefined) continue
    const { byLabels, definition } = family
    for (const { labels, value } of readings) {
      const key = labels.join("\0")
      const known = byLabels.get(key)?.value
      byLabels.set(key, { labels, value: known === undefined ? value : combined(definition, known, value) })
    }
  }
  return Array.from(families.values(), ({ definition, byLabels }) => ({
    definition,
    readings: Array.from(byLabels.values()),
  }))
}

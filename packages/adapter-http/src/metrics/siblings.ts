import type {
  Distribution,
  MetricDefinition,
  MetricFamily,
  Reading,
} from "@tocsin/core/engine/metrics/Metric"
import { Effect, type Scope } from "effect"

/** A metric of another process. */
export interface SentFamily {
  readonly name: string
  readonly readings: ReadonlyArray<Reading>
}

/** The other processes that serve on the same port, whose metrics belong to the same scrape. */
export interface Siblings {
  /** Answers the others with `own`, and gives what the others answer. */
  readonly join: (
    own: Effect.Effect<ReadonlyArray<MetricFamily>>,
  ) => Effect.Effect<Effect.Effect<ReadonlyArray<ReadonlyArray<SentFamily>>>, never, Scope.Scope>
}

/** A process alone. */
export const NO_SIBLINGS: Siblings = { join: () => Effect.succeed(Effect.succeed([])) }

const sumOf = (a: Distribution, b: Distribution): Distribution => ({
  counts: a.counts.map((count, index) => count + (b.counts[index] ?? 0)),
  sum: a.sum + b.sum,
})

const combined = (
  { ofSeveral }: MetricDefinition,
  a: Reading["value"],
  b: Reading["value"],
): Reading["value"] => {
  if (typeof a !== "number" || typeof b !== "number")
    return typeof a === "number" || typeof b === "number" ? a : sumOf(a, b)
  switch (ofSeveral) {
    case "sum":
      return a + b
    case "most":
      return Math.max(a, b)
    case "least":
      return Math.min(a, b)
  }
}

/** The metrics of a process together with those of others, by labels. */
export const withSiblings = (
  own: ReadonlyArray<MetricFamily>,
  others: ReadonlyArray<ReadonlyArray<SentFamily>>,
): ReadonlyArray<MetricFamily> => {
  if (others.length === 0) return own
  const families = new Map<string, { definition: MetricDefinition; byLabels: Map<string, Reading> }>()
  for (const { definition } of own) families.set(definition.name, { definition, byLabels: new Map() })
  const sent = own.map(({ definition: { name }, readings }) => ({ name, readings }))
  for (const { name, readings } of [sent, ...others].flat()) {
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

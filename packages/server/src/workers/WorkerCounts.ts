import type { SentFamily } from "@tocsin/adapter-http/metrics/siblings"
import type { Distribution, Reading } from "@tocsin/core/engine/metrics/Metric"

type Value = Reading["value"]

interface Total {
  readonly type: SentFamily["type"]
  readonly byLabels: Map<string, Reading>
}

const NONE: Distribution = { counts: [], sum: 0 }

/** What was counted between two values of one counter or histogram; nothing where one is older. */
const increase = (before: Value | undefined, now: Value): Value => {
  if (typeof now === "number") return Math.max(0, now - (typeof before === "number" ? before : 0))
  const { counts, sum } = typeof before === "object" ? before : NONE
  return {
    counts: now.counts.map((count, index) => Math.max(0, count - (counts[index] ?? 0))),
    sum: Math.max(0, now.sum - sum),
  }
}

const added = (total: Value | undefined, more: Value): Value => {
  if (typeof more === "number") return (typeof total === "number" ? total : 0) + more
  const { counts, sum } = typeof total === "object" ? total : NONE
  return { counts: more.counts.map((count, index) => count + (counts[index] ?? 0)), sum: sum + more.sum }
}

/**
 * The counters and histograms of all workers that have ever been, as far as they reported them. Each
 * report adds what was counted since the worker's last one, so a total never falls: not by the end of
 * a worker, and not by the rounding of a sum in another order.
 */
export class WorkerCounts {
  readonly #totals = new Map<string, Total>()
  /** What each living worker last reported, by metric and labels. */
  readonly #reported = new Map<number, Map<string, Value>>()

  /** Takes a worker's counters and histograms from its metrics. */
  report(worker: number, families: ReadonlyArray<SentFamily>): void {
    const reported = this.#reported.get(worker) ?? new Map<string, Value>()
    this.#reported.set(worker, reported)
    for (const { name, type, readings } of families) {
      if (type === "gauge") continue
      const { byLabels } = this.#total(name, type)
      for (const { labels, value } of readings) {
        const key = labels.join("\0")
        const before = reported.get(`${name}\0${key}`)
        const more = increase(before, value)
        // Not the value itself: a report that was overtaken by a later one must not count twice.
        reported.set(`${name}\0${key}`, added(before, more))
        byLabels.set(key, { labels, value: added(byLabels.get(key)?.value, more) })
      }
    }
  }

  /** The worker's process has ended: the next one of its number counts from 0. */
  ended(worker: number): void {
    this.#reported.delete(worker)
  }

  get totals(): ReadonlyArray<SentFamily> {
    return Array.from(this.#totals, ([name, { byLabels, type }]) => ({
      name,
      type,
      readings: Array.from(byLabels.values()),
    }))
  }

  #total(name: string, type: SentFamily["type"]): Total {
    const known = this.#totals.get(name)
    if (known !== undefined) return known
    const total: Total = { type, byLabels: new Map() }
    this.#totals.set(name, total)
    return total
  }
}

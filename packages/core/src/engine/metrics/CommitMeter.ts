import type { Counter, Histogram } from "./Counters.ts"
import type { Instruments } from "./Instruments.ts"

/** Counts the commits of a storage that one way of deciding leads to, and how many commands shared each. */
export class CommitMeter {
  readonly #groupSize: Histogram
  readonly #duration: Histogram
  readonly #failures: Counter

  constructor(
    instruments: Instruments,
    { storage, way }: { readonly storage: string; readonly way: string },
  ) {
    this.#groupSize = instruments.groupSize.of(storage, way)
    this.#duration = instruments.commitDuration.of(storage, way)
    this.#failures = instruments.groupFailures.of(storage, way)
  }

  /** A group was committed; `millis` since its transaction began. */
  committed(commands: number, millis: number): void {
    this.#groupSize.observe(commands)
    this.#duration.observe(millis / 1_000)
  }

  /** Nothing of a group was kept; its commands are decided anew. */
  failed(): void {
    this.#failures.value += 1
  }
}

/** Counts how commands were decided. */
export interface CacheCounters {
  readonly hit: Counter
  readonly miss: Counter
  readonly stale: Counter
}

/** The counters of one storage's cache of rows. */
export const cacheCounters = ({ cacheLookups }: Instruments, storage: string): CacheCounters => ({
  hit: cacheLookups.of(storage, "hit"),
  miss: cacheLookups.of(storage, "miss"),
  stale: cacheLookups.of(storage, "stale"),
})

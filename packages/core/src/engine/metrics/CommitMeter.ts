import type { Counter, Histogram } from "./Counters.ts"
import type { Instruments } from "./Instruments.ts"

/** Measures the commits of one path through a storage: size, duration, failures. */
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

  /** Records a commit; `millis` since its transaction began. */
  committed(commands: number, millis: number): void {
    this.#groupSize.observe(commands)
    this.#duration.observe(millis / 1_000)
  }

  /** Records a rollback; its commands are decided again. */
  failed(): void {
    this.#failures.value += 1
  }
}

/** Counts lookups in a row cache. */
export interface CacheCounters {
  readonly hit: Counter
  readonly miss: Counter
  readonly stale: Counter
}

/** The counters of one storage's row cache. */
export const cacheCounters = ({ cacheLookups }: Instruments, storage: string): CacheCounters => ({
  hit: cacheLookups.of(storage, "hit"),
  miss: cacheLookups.of(storage, "miss"),
  stale: cacheLookups.of(storage, "stale"),
})

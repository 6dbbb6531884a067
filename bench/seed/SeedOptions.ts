import type { SeedSize } from "./SeedSize.ts"

/** What to seed, and how. */
export interface SeedOptions {
  readonly size: SeedSize
  /** The moment at which the storage is as it was left, in microseconds since 1970: agents were seen just before it. */
  readonly now: bigint
  /** Hears what is done next. */
  readonly report: (step: string) => void
}

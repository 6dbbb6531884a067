import type { SeedSize } from "./SeedSize.ts"

export interface SeedOptions {
  readonly size: SeedSize
  /** The storage's present, in microseconds since 1970; agents were seen just before it. */
  readonly now: bigint
  /** Receives the next step. */
  readonly report: (step: string) => void
}

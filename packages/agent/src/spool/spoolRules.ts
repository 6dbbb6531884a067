/** How much the spool holds before it drops results, oldest first, changes last. */
export interface SpoolBounds {
  readonly bytes: number
  readonly ageMillis: number
  /** Results in memory while the disk refuses them. */
  readonly inMemory: number
}

const MIB = 1_048_576
const DAY_MILLIS = 86_400_000

export const defaultBounds: SpoolBounds = { bytes: 100 * MIB, ageMillis: 30 * DAY_MILLIS, inMemory: 1_000 }

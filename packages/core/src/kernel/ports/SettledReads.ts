import type { Effect } from "effect"
import type { Instant } from "@tocsin/contract/formats/Instant"

export interface TimeSpan {
  readonly from: Instant
  /** Not included. */
  readonly to: Instant
}

/** History rows whose transactions have ended (docs/rules.md#export). */
export interface SettledHistory {
  /** No row with this number or a lower one is still to come. */
  readonly settled: number
  /** The first and the last of them that were received in a span; 0 without one. */
  readonly first: number
  readonly last: number
}

/** How far what a storage shows is all that it will have: a transaction that has not ended may bring earlier rows. */
export interface SettledReads<StorageError = unknown> {
  /** The history rows of a span whose numbers are above `after`, as far as they are settled. Waits for no long transaction. */
  readonly settledHistory: (span: TimeSpan, after?: number) => Effect.Effect<SettledHistory, StorageError>
  /** A moment before which no incident that is still to come opened or resolved; absent where none is. */
  readonly settledIncidents: Effect.Effect<Instant | undefined, StorageError>
}

import type { Effect, Schema } from "effect"
import type { StorageError } from "../../ports/Storage.ts"
import type { TimeSpan } from "../../ports/SettledReads.ts"

/** Where a reader of rows is, in values that JSON has. */
export type Place = ReadonlyArray<string | number>

/** Some rows as they are on the wire, each with the place behind it. */
export interface PlacedRows {
  readonly rows: ReadonlyArray<readonly [row: object, place: Place]>
  /** The place behind all of them; at the end, the one from which what comes later is read. */
  readonly place: Place
  readonly isEnd: boolean
}

/** Rows that are read in pieces, in an order in which none is added before a place that was read. */
export interface OpenRows<P extends Place = never> {
  readonly place: Schema.Codec<P, unknown>
  /** Begins behind a place, or at the first row. The effect that it gives reads the next piece each time. */
  readonly open: (
    span: TimeSpan,
    place: P | undefined,
  ) => Effect.Effect<Effect.Effect<PlacedRows, StorageError>, StorageError>
}

import type { Effect } from "effect"
import type { CheckRef } from "../model/CheckRef.ts"

/** The values of a series in a time: 5 minutes, an hour or a day (docs/rules.md#numbers). */
export interface Span {
  readonly count: number
  readonly least: number
  readonly most: number
  readonly mean: number
  readonly last: number
  /** When the last value was measured, as a part of the time, from 0 to 1. */
  readonly lastAt: number
}

/** Spans of times that follow each other; a time without a value has none. */
export type Spans = ReadonlyArray<Span | undefined>

/** A series of numbers: what one check measured under one name, in one unit. */
export interface SeriesRef extends CheckRef {
  readonly name: string
  readonly unit: string
}

export interface KnownSeries extends SeriesRef {
  /** The start of its newest part. */
  readonly newest: number
}

/** The rows that a server has of a series: `PART_KINDS` says how long they are. */
export type PartKind = "hour" | "day" | "late"

export interface PartRef extends SeriesRef {
  readonly kind: PartKind
  /** Milliseconds since 1970. */
  readonly start: number
}

export interface NumberPart extends PartRef {
  readonly spans: Spans
}

export interface WrittenPart extends NumberPart {
  /** When its server took the first value of it, in milliseconds since 1970. */
  readonly since: number
}

/** Parts of the series of one check, of all servers together. */
export interface PartsQuery extends CheckRef {
  readonly kinds: ReadonlyArray<PartKind>
  /** Parts that start from `from` on and before `to`, in milliseconds since 1970. */
  readonly from: number
  readonly to: number
  /** One series name; all unless given. */
  readonly name?: string | undefined
}

export interface NumberExpiry {
  /** Parts of this kind that start before a moment, in milliseconds since 1970. */
  readonly kind: PartKind
  readonly before: number
  readonly limit: number
}

/**
 * Where numbers over time are kept (docs/rules.md#numbers). Each server replaces its own parts, so a repeated write
 * changes nothing, and a reader merges the parts of all servers. A storage that has it names its error.
 */
export interface NumberStorage<StorageError = unknown> {
  /** The series of one check, or of all. */
  readonly series: (of?: CheckRef) => Effect.Effect<ReadonlyArray<KnownSeries>, StorageError>
  /** These parts as a server has written them, as far as it has written any. */
  readonly own: (
    server: string,
    parts: ReadonlyArray<PartRef>,
  ) => Effect.Effect<ReadonlyArray<NumberPart>, StorageError>
  /**
   * Replaces parts of a server in one transaction, and with each hour its span in that server's day
   * ({@link dayWith}). Leaves out the parts of checks that are gone, or were deleted after the server took their first
   * value, and gives these parts. A part has at least one span.
   */
  readonly write: (
    server: string,
    parts: ReadonlyArray<WrittenPart>,
  ) => Effect.Effect<ReadonlyArray<WrittenPart>, StorageError>
  /** Removes series; their parts expire. */
  readonly endSeries: (series: ReadonlyArray<SeriesRef>) => Effect.Effect<void, StorageError>
  /** Parts as the servers wrote them, in any order. */
  readonly parts: (query: PartsQuery) => Effect.Effect<ReadonlyArray<NumberPart>, StorageError>
  /**
   * Folds the parts of a day and of its hours ({@link foldedWith}), of each series of which more than
   * {@link MOST_SERVERS} servers have some ({@link foldParts}). What a server writes meanwhile is lost by neither.
   */
  readonly fold: (day: {
    readonly start: number
    readonly before: number
  }) => Effect.Effect<void, StorageError>
  /** Removes at most `limit` parts. Returns whether there may be more. */
  readonly expire: (expiry: NumberExpiry) => Effect.Effect<boolean, StorageError>
  /**
   * Removes series whose check is gone, or whose newest part started before a moment, and deletions that all servers
   * have seen. A newest part that starts after now, measured while a clock was ahead, counts as of now.
   */
  readonly expireSeries: (bounds: {
    readonly before: number
    readonly now: number
  }) => Effect.Effect<void, StorageError>
}

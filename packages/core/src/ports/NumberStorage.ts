import type { Effect } from "effect"
import type { CheckRef } from "../model/CheckRecord.ts"
import type {
  KnownSeries,
  NumberPart,
  PartKind,
  PartRef,
  SeriesRef,
  WrittenPart,
} from "../numbers/NumberPart.ts"

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

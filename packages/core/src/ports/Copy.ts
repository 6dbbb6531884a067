import type { Effect, Stream } from "effect"
import type { StorageError } from "./Storage.ts"
import type { AnyShape, CopiedRow } from "../model/TableShape.ts"

/** A snapshot of a storage, unaffected by concurrent writes. */
export interface CopySource {
  readonly count: (table: AnyShape) => Effect.Effect<number, StorageError>
  /** All rows of a table in the order of its key, in batches; or those whose numeric key is above `after`. */
  readonly rows: (table: AnyShape, after?: bigint) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** The highest number ever given to a history row; 0 for none. Numbers are not reused. */
  readonly lastSeq: Effect.Effect<bigint, StorageError>
}

/** A storage that is being filled. Its content becomes visible as a whole. */
export interface CopyTarget {
  readonly write: (table: AnyShape, rows: ReadonlyArray<CopiedRow>) => Effect.Effect<void, StorageError>
  /** Reads written rows back, in the order of the key. */
  readonly rows: (table: AnyShape) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** Numbers further history rows above this one. */
  readonly setLastSeq: (seq: bigint) => Effect.Effect<void, StorageError>
}

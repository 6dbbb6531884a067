import type { Effect, Stream } from "effect"
import type { StorageError } from "./Storage.ts"

/** How a column's values are copied: as text, bigint, boolean, or JSON and UUID as their texts. */
export interface CopiedColumn {
  readonly name: string
  readonly type: "text" | "integer" | "boolean" | "json" | "uuid"
}

/** A table that all storages have, without derived columns. */
export interface CopiedTable {
  readonly name: string
  readonly columns: ReadonlyArray<CopiedColumn>
  /** Makes its order total. */
  readonly key: ReadonlyArray<string>
}

/** A row, its values in the order of the columns. */
export type CopiedRow = ReadonlyArray<string | bigint | boolean | null>

/** A snapshot of a storage, unaffected by concurrent writes. */
export interface CopySource {
  readonly count: (table: CopiedTable) => Effect.Effect<number, StorageError>
  /** All rows of a table in the order of its key, in batches. */
  readonly rows: (table: CopiedTable) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** The highest number ever given to a history row; 0 for none. Numbers are not reused. */
  readonly lastSeq: Effect.Effect<bigint, StorageError>
}

/** A storage that is being filled. Its content becomes visible as a whole. */
export interface CopyTarget {
  readonly write: (table: CopiedTable, rows: ReadonlyArray<CopiedRow>) => Effect.Effect<void, StorageError>
  /** What was written, read back in the order of the key. */
  readonly rows: (table: CopiedTable) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** Numbers further history rows above this one. */
  readonly setLastSeq: (seq: bigint) => Effect.Effect<void, StorageError>
}

import type { Effect, Stream } from "effect"
import type { StorageError } from "./Storage.ts"

/** How a column's values are carried between storages: as text, bigint, boolean, or JSON and UUID as their texts. */
export interface CopiedColumn {
  readonly name: string
  readonly type: "text" | "integer" | "boolean" | "json" | "uuid"
}

/** A table as all storages have it, without what each derives itself. */
export interface CopiedTable {
  readonly name: string
  readonly columns: ReadonlyArray<CopiedColumn>
  /** What makes its order total. */
  readonly key: ReadonlyArray<string>
}

/** A row, its values in the order of the columns. */
export type CopiedRow = ReadonlyArray<string | bigint | boolean | null>

/** A storage as it is at one moment, whatever others write to it meanwhile. */
export interface CopySource {
  readonly count: (table: CopiedTable) => Effect.Effect<number, StorageError>
  /** All rows of a table in the order of its key, in pieces. */
  readonly rows: (table: CopiedTable) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** The highest number that a history row was ever given; 0 for none. Numbers are not given again. */
  readonly lastSeq: Effect.Effect<bigint, StorageError>
}

/** A storage that is being filled. Nobody else sees what is in it until all of it is. */
export interface CopyTarget {
  readonly write: (table: CopiedTable, rows: ReadonlyArray<CopiedRow>) => Effect.Effect<void, StorageError>
  /** What was written, read back in the order of the key. */
  readonly rows: (table: CopiedTable) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** Gives history rows numbers above this one from now on. */
  readonly setLastSeq: (seq: bigint) => Effect.Effect<void, StorageError>
}

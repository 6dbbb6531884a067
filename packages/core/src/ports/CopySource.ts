import type { Effect, Stream } from "effect"
import type { CopiedRow, CopiedTable } from "./CopiedTable.ts"
import type { StorageError } from "./Storage.ts"

/** A storage as it is at one moment, whatever others write to it meanwhile. */
export interface CopySource {
  readonly count: (table: CopiedTable) => Effect.Effect<number, StorageError>
  /** All rows of a table in the order of its key, in pieces. */
  readonly rows: (table: CopiedTable) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** The highest number that a history row was ever given; 0 for none. Numbers are not given again. */
  readonly lastSeq: Effect.Effect<bigint, StorageError>
}

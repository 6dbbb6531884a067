import type { Effect, Stream } from "effect"
import type { CopiedRow, CopiedTable } from "./CopiedTable.ts"
import type { StorageError } from "./Storage.ts"

/** A storage that is being filled. Nobody else sees what is in it until all of it is. */
export interface CopyTarget {
  readonly write: (table: CopiedTable, rows: ReadonlyArray<CopiedRow>) => Effect.Effect<void, StorageError>
  /** What was written, read back in the order of the key. */
  readonly rows: (table: CopiedTable) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** Gives history rows numbers above this one from now on. */
  readonly setLastSeq: (seq: bigint) => Effect.Effect<void, StorageError>
}

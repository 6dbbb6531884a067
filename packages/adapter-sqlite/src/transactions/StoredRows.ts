import type { RowCache } from "../cache/RowCache.ts"
import type { Tables } from "../tables/makeTables.ts"

/** What transactions read rows from and write them to: the tables, and the rows of them that are remembered. */
export interface StoredRows {
  readonly tables: Tables
  readonly cache: RowCache
}

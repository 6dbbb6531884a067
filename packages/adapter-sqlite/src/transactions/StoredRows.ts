import type { RowCache } from "../cache/RowCache.ts"
import type { Tables } from "../tables/makeTables.ts"

/** The rows that transactions read and write: the tables, and the cached rows of them. */
export interface StoredRows {
  readonly tables: Tables
  readonly cache: RowCache
}

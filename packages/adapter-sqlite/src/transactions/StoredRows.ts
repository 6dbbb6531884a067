import type { Workspace, WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import { RowCache } from "../cache/RowCache.ts"
import type { Tables } from "../tables/makeTables.ts"
import { persistChanges } from "./persistChanges.ts"

/** What transactions read rows from and write them to: the tables, and the rows of them that are remembered. */
export class StoredRows {
  readonly tables: Tables
  readonly cache: RowCache

  constructor(tables: Tables, options: { readonly cacheBytes: number }) {
    this.tables = tables
    this.cache = new RowCache(tables, { bytes: options.cacheBytes })
  }

  /** Begins a transaction, with its data version. */
  begin(version: bigint): void {
    this.cache.begin(version)
  }

  /** Writes what a transaction changed. Returns what was written, for `committed`. */
  persist(workspace: Workspace): WorkspaceChanges {
    return persistChanges(this.tables, workspace)
  }

  /** To be called once the transaction that wrote this is committed. */
  committed(changes: WorkspaceChanges): void {
    this.cache.apply(changes)
  }
}

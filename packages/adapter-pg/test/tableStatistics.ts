import type { Replica } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect } from "effect"
import { eventually } from "./client/eventually.ts"

/** PostgreSQL's counts for one table since the database was made. */
export interface TableStatistics {
  readonly name: string
  /** How often all of it was read. */
  readonly seq_scan: bigint
  /** Rows that were fetched by an index. */
  readonly idx_tup_fetch: bigint
  readonly n_tup_upd: bigint
  /** Updates whose new version stayed in its page, so that no index was touched. */
  readonly n_tup_hot_upd: bigint
  /** Updates whose page had no room left, which depends on what else runs; not counted before PostgreSQL 16. */
  readonly n_tup_newpage_upd: bigint | null
  readonly n_tup_del: bigint
}

/** Reads the statistics once all other connections to the database are closed, since they tell what they did by then. */
export const tableStatistics = Effect.fnUntraced(function* ({ sql }: Replica) {
  const others = sql<{ count: number }>`
    SELECT count(*)::int4 AS count FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
  `
  yield* eventually(Effect.map(others, (rows) => rows[0]?.count === 0))
  const rows = yield* sql<TableStatistics>`
    SELECT relname AS name, seq_scan, coalesce(idx_tup_fetch, 0) AS idx_tup_fetch, n_tup_upd, n_tup_hot_upd, n_tup_del,
      (to_jsonb(counted) ->> 'n_tup_newpage_upd')::int8 AS n_tup_newpage_upd
    FROM pg_stat_user_tables AS counted
  `
  return new Map(rows.map((row) => [row.name, row]))
})

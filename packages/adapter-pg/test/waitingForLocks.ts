import type { Replica } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect } from "effect"

/** How many connections to the database of `observer` wait for a lock. Outside of a transaction, which would not look again. */
export const waitingForLocks = (observer: Replica) =>
  Effect.map(
    observer.sql<{ count: number }>`
      SELECT count(*)::int4 AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'
    `,
    (rows) => rows[0]?.count ?? 0,
  )

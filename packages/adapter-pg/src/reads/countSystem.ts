import type { Instant } from "@tocsin/core/contract/Instant"
import type { SystemCounts } from "@tocsin/core/liveness/SystemCounts"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import { read } from "./read.ts"

/** Counts what the summary shows, in one pass over agents; an index holds only open incidents. */
const findCounts: PgStatement = {
  name: "find_counts",
  text: `SELECT count(*) FILTER (WHERE admission_state = 'accepted' AND last_seen_at > $1) AS agents_online,
                count(*) FILTER (WHERE admission_state = 'accepted' AND last_seen_at <= $1) AS agents_offline,
                coalesce(sum(checks_ok), 0)::int8 AS checks_ok,
                coalesce(sum(checks_warning), 0)::int8 AS checks_warning,
                coalesce(sum(checks_critical), 0)::int8 AS checks_critical,
                coalesce(sum(checks_unknown), 0)::int8 AS checks_unknown,
                (SELECT count(*) FROM incident WHERE state = 'open') AS open_incidents
         FROM agent`,
}

/** Counts for the summary; see `Storage.counts`. */
export const countSystem = (
  sql: SqlClient.SqlClient,
  aliveSince: Instant,
): Effect.Effect<SystemCounts, SqlError.SqlError> =>
  Effect.map(read(sql, findCounts, [aliveSince]), ([counts]) => ({
    agents_online: Number(counts?.["agents_online"]),
    agents_offline: Number(counts?.["agents_offline"]),
    checks_ok: Number(counts?.["checks_ok"]),
    checks_warning: Number(counts?.["checks_warning"]),
    checks_critical: Number(counts?.["checks_critical"]),
    checks_unknown: Number(counts?.["checks_unknown"]),
    open_incidents: Number(counts?.["open_incidents"]),
  }))

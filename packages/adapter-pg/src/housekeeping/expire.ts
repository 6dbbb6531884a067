import type { Instant } from "@tocsin/core/contract/Instant"
import { NotificationType } from "@tocsin/core/contract/Status"
import type { RetentionBounds } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Database } from "../Database.ts"
import { indexedTransaction } from "../transactions/indexedTransaction.ts"
import { expireHistory } from "./expireHistory.ts"

/** An incident may have thousands of members that go with it. */
const INCIDENTS_AT_ONCE = 20

/** Deletes at most `$2` incidents that were resolved before `$1`, with their members, story and alerts. */
const deleteIncidents: PgStatement = {
  name: "expire_incidents",
  text: `WITH doomed AS MATERIALIZED (
           SELECT id FROM incident
           WHERE state_rank = 0 AND severity_rank = ANY('{1,2,3}') AND resolved_order < $1
           LIMIT $2 FOR UPDATE SKIP LOCKED
         ),
         members AS (DELETE FROM incident_member AS m USING doomed WHERE m.incident_id = doomed.id),
         story AS (DELETE FROM incident_change AS h USING doomed WHERE h.incident_id = doomed.id),
         alerts AS (DELETE FROM alert AS l USING doomed WHERE l.incident_id = doomed.id),
         removed AS (DELETE FROM incident AS i USING doomed WHERE i.id = doomed.id RETURNING 1)
         SELECT count(*)::int4 AS removed FROM removed`,
}

const quoted = (values: ReadonlyArray<string>): string => values.map((value) => `'${value}'`).join(", ")

/**
 * Deletes at most `$2` outbox items that ended before `$1`: a range of the index for each kind of item. `kinds` steps from one
 * notifier's name that occurs to the next.
 */
const deleteOutbox: PgStatement = {
  name: "expire_outbox",
  text: `WITH RECURSIVE kinds AS (
           SELECT ended.state, (SELECT min(o.notifier) FROM outbox AS o WHERE o.state = ended.state) AS notifier
           FROM (VALUES ('sent'), ('failed'), ('discarded')) AS ended (state)
           UNION ALL
           SELECT kinds.state,
                  (SELECT min(o.notifier) FROM outbox AS o WHERE o.state = kinds.state AND o.notifier > kinds.notifier)
           FROM kinds WHERE kinds.notifier IS NOT NULL
         ),
         doomed AS MATERIALIZED (
           SELECT of_kind.id FROM kinds CROSS JOIN LATERAL (
             SELECT o.id FROM outbox AS o
             WHERE o.state = kinds.state AND o.notifier = kinds.notifier
               AND o.event_type IN (${quoted(NotificationType.literals)}) AND o.updated_at < $1
             LIMIT $2 FOR UPDATE SKIP LOCKED
           ) AS of_kind
           LIMIT $2
         ),
         removed AS (DELETE FROM outbox AS o USING doomed WHERE o.id = doomed.id RETURNING 1)
         SELECT count(*)::int4 AS removed FROM removed`,
}

/** Removes at most `limit` rows that have outlived their retention, in small transactions; see `Storage.expire`. */
export const expire = Effect.fnUntraced(function* (
  database: Database,
  before: RetentionBounds,
  limit: number,
): Effect.fn.Return<number, SqlError.SqlError> {
  let left = limit
  if (before.history !== undefined) left -= yield* expireHistory(database, before.history, left)
  if (before.incidents !== undefined) {
    left -= yield* inPieces(database, deleteIncidents, {
      before: before.incidents,
      limit: left,
      piece: INCIDENTS_AT_ONCE,
    })
  }
  if (before.outbox !== undefined) {
    left -= yield* inPieces(database, deleteOutbox, { before: before.outbox, limit: left, piece: left })
  }
  return limit - left
})

interface Pieces {
  readonly before: Instant
  readonly limit: number
  readonly piece: number
}

/** Runs a statement until it has removed `limit` rows or finds fewer than a piece. */
const inPieces = Effect.fnUntraced(function* (
  database: Database,
  statement: PgStatement,
  { before, limit, piece }: Pieces,
) {
  let removed = 0
  while (removed < limit) {
    const asked = Math.min(piece, limit - removed)
    const rows = yield* indexedTransaction(database, database.pg.query(statement, [before, asked]))
    const count = Number(rows[0]?.["removed"])
    removed += count
    if (count < asked) break
  }
  return removed
})

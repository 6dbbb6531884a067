import type { Instant } from "@tocsin/core/contract/Instant"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Database } from "../Database.ts"
import { indexedTransaction } from "../transactions/indexedTransaction.ts"

/** Finds the oldest rows that were received before `$1` and not set aside yet. */
const findOldHistory: PgStatement = {
  name: "find_old_history",
  text: `SELECT seq, agent_id FROM check_event WHERE NOT is_kept AND received_at < $1
         ORDER BY received_at LIMIT $2`,
}

/** Keeps results of agents out, in the order of their ids, until the transaction ends. */
const lockAgentsForShare: PgStatement = {
  name: "lock_agents_for_share",
  text: "SELECT FROM agent WHERE agent_id = ANY($1) ORDER BY agent_id FOR SHARE",
}

/** Deletes those of some rows that a newer one of the same check replaced, and sets the others aside. */
const deleteReplacedHistory: PgStatement = {
  name: "delete_replaced_history",
  text: `WITH old AS MATERIALIZED (
           SELECT e.seq, EXISTS (
             SELECT FROM check_event AS newer
             WHERE newer.agent_id = e.agent_id AND newer.check_id = e.check_id
               AND newer.registration_id = e.registration_id AND newer.seq + 0 > e.seq
           ) AS is_replaced
           FROM check_event AS e WHERE e.seq = ANY($1)
         ),
         kept AS (
           UPDATE check_event AS e SET is_kept = true FROM old WHERE e.seq = old.seq AND NOT old.is_replaced
         ),
         removed AS (
           DELETE FROM check_event AS e USING old WHERE e.seq = old.seq AND old.is_replaced RETURNING 1
         )
         SELECT count(*)::int4 AS removed FROM removed`,
}

/**
 * Removes at most `limit` history rows that were received before an instant, except the newest of each check. Such a row is
 * set aside when it is met (`is_kept`), until another one replaces it: so each round meets new candidates only, however
 * many checks have not changed for years. Returns how many it removed.
 */
export const expireHistory = Effect.fnUntraced(function* (
  database: Database,
  before: Instant,
  limit: number,
): Effect.fn.Return<number, SqlError.SqlError> {
  let removed = 0
  while (removed < limit) {
    const asked = limit - removed
    const piece = yield* indexedTransaction(database, expirePiece(database.pg, before, asked))
    removed += piece.removed
    if (piece.found < asked) break
  }
  return removed
})

const expirePiece = Effect.fnUntraced(function* (pg: PgClient["Service"], before: Instant, limit: number) {
  const old = yield* pg.query(findOldHistory, [before, limit])
  if (old.length === 0) return { found: 0, removed: 0 }
  yield* pg.query(lockAgentsForShare, [Array.from(new Set(old.map((row) => row["agent_id"])))])
  const rows = yield* pg.query(deleteReplacedHistory, [old.map((row) => row["seq"])])
  return { found: old.length, removed: Number(rows[0]?.["removed"]) }
})

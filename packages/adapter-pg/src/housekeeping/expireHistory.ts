import type { AgentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import { reportPassedOver } from "@tocsin/core/metrics/reportPassedOver"
import { Duration, Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Database } from "../Database.ts"
import * as RealTime from "../RealTime.ts"
import { indexedTransaction } from "../transactions/indexedTransaction.ts"

/** Results of an agent that are being stored hold it for milliseconds; what holds it for longer than a second hangs. */
const LOOKS = 5
const BETWEEN_LOOKS = Duration.millis(200)

/** Finds the oldest rows that were received before `$1` and not set aside yet, but for those of some agents. */
const findOldHistory: PgStatement = {
  name: "find_old_history",
  text: `SELECT seq, agent_id FROM check_event
         WHERE NOT is_kept AND received_at < $1 AND agent_id <> ALL($3) ORDER BY received_at LIMIT $2`,
}

/** Keeps results of agents out until the transaction ends, but for agents that somebody else holds. */
const lockFreeAgentsForShare: PgStatement = {
  name: "lock_free_agents_for_share",
  text: "SELECT agent_id FROM agent WHERE agent_id = ANY($1) ORDER BY agent_id FOR SHARE SKIP LOCKED",
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
 * many checks have not changed for years. Goes back for a second to agents that somebody else holds, and then reports them.
 * Returns how many it removed.
 */
export const expireHistory = Effect.fnUntraced(function* (
  database: Database,
  before: Instant,
  limit: number,
): Effect.fn.Return<number, SqlError.SqlError> {
  let removed = 0
  for (let look = 1; ; look++) {
    const { held, removed: more } = yield* expireFree(database, before, limit - removed)
    removed += more
    if (removed >= limit || held.length === 0) return removed
    if (look > LOOKS) {
      yield* reportPassedOver("history", held)
      return removed
    }
    yield* RealTime.pause(BETWEEN_LOOKS)
  }
})

/** Removes rows of agents that nobody holds. */
const expireFree = Effect.fnUntraced(function* (database: Database, before: Instant, limit: number) {
  const held = new Set<AgentId>()
  let removed = 0
  while (removed < limit) {
    const asked = limit - removed
    const piece = yield* indexedTransaction(
      database,
      expirePiece(database.pg, { before, limit: asked, held }),
    )
    removed += piece.removed
    if (piece.found < asked) break
  }
  return { removed, held: Array.from(held) }
})

interface Piece {
  readonly before: Instant
  readonly limit: number
  /** Agents that were met and that somebody else holds. */
  readonly held: Set<AgentId>
}

const expirePiece = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  { before, held, limit }: Piece,
): Effect.fn.Return<{ readonly found: number; readonly removed: number }, SqlError.SqlError> {
  const old = (yield* pg.query(findOldHistory, [before, limit, Array.from(held)])).map(decodeFound)
  if (old.length === 0) return { found: 0, removed: 0 }
  const agents = Array.from(new Set(old.map((row) => row.agent_id)))
  const free = new Set((yield* pg.query(lockFreeAgentsForShare, [agents])).map((row) => row["agent_id"]))
  for (const agentId of agents) if (!free.has(agentId)) held.add(agentId)
  const rows = yield* pg.query(deleteReplacedHistory, [
    old.filter((row) => free.has(row.agent_id)).map((row) => row.seq),
  ])
  return { found: old.length, removed: Number(rows[0]?.["removed"]) }
})

/** The columns of {@link findOldHistory}; an agent_id was one when it was written. */
const decodeFound = (row: SqlConnection.Row) =>
  row as unknown as { readonly seq: bigint; readonly agent_id: AgentId }

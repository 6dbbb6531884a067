import type { AgentId } from "@tocsin/core/contract/Identifiers"
import { reportPassedOver } from "@tocsin/core/admission/heldAgents"
import {
  expireEffect,
  type RetentionPiece,
  type RetentionResult,
} from "@tocsin/core/retention/retentionPiece"
import { Duration, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "../Database.ts"
import * as RealTime from "../RealTime.ts"
import { indexedTransaction } from "../transactions/indexedTransaction.ts"
import { retentionLooks } from "./retentionLooks.ts"
import { retentionRemovals } from "./retentionRemovals.ts"

/** Storing results holds an agent for milliseconds. A session that holds it for a second hangs. */
const LOOKS = 5
const BETWEEN_LOOKS = Duration.millis(200)

/**
 * Runs a piece of retention; see `Storage.expire`. The last piece of a rule returns for a second to
 * agents that another session holds, and then reports them.
 */
export const expire = Effect.fnUntraced(function* (
  database: Database,
  piece: RetentionPiece,
): Effect.fn.Return<RetentionResult, SqlError.SqlError> {
  const { pg } = database
  const removals = retentionRemovals(pg)
  let removed = 0
  for (let look = 1; ; look++) {
    const held = new Set<AgentId>()
    const tables = { look: retentionLooks(pg, held), ...removals }
    const rest = { ...piece, limit: piece.limit - removed }
    const result = yield* indexedTransaction(database, expireEffect(tables, rest))
    removed += result.removed
    if (held.size === 0 || result.isMore) return { ...result, removed }
    if (look > LOOKS) {
      yield* reportPassedOver("history", Array.from(held))
      return { ...result, removed }
    }
    yield* RealTime.pause(BETWEEN_LOOKS)
  }
})

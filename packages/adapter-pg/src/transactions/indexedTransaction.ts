import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import type { Database } from "../Database.ts"

/** Compiling a plan is worth it for none of the statements. */
const BEGIN = [
  "BEGIN ISOLATION LEVEL READ COMMITTED",
  "SET LOCAL enable_seqscan = off",
  "SET LOCAL enable_hashjoin = off",
  "SET LOCAL enable_mergejoin = off",
  "SET LOCAL jit = off",
].join("; ")

/**
 * Runs an effect in a transaction whose statements find rows by index. Prepared statements keep their plans, and one that
 * was made while a table was small would read all of it long after it has grown.
 */
export const indexedTransaction = <A, E, R>(
  { sql }: Database,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.provideService(sql.withTransaction(effect), SqlClient.BeginTransaction, BEGIN)

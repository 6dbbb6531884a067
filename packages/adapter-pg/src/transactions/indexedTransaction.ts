import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { settingStatement } from "../client/script.ts"
import type { Database } from "../Database.ts"

/**
 * Settings with which prepared statements find rows by index. A connection keeps a plan for its
 * whole life: one made while a table was small would still read all of it after it has grown. A
 * generic plan expects few given rows, so it looks each of them up. None of them is worth
 * compiling.
 */
export const indexSettings = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  plan_cache_mode: "force_generic_plan",
  jit: "off",
}

const setIndexSettings = settingStatement(indexSettings, "transaction ends")

/**
 * Runs an effect in a transaction in which each statement sees what is committed when it begins.
 */
export const transaction = <A, E, R>(
  { sql }: Database,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.provideService(
    sql.withTransaction(effect),
    SqlClient.BeginTransaction,
    "BEGIN ISOLATION LEVEL READ COMMITTED",
  )

/** A transaction whose statements find rows by index. */
export const indexedTransaction = <A, E, R>(
  database: Database,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  transaction(database, Effect.andThen(database.pg.query(setIndexSettings, []), effect))

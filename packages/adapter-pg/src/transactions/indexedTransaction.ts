import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import { settingStatement } from "../client/script.ts"
import type { Database } from "../Database.ts"

/**
 * Settings with which prepared statements find rows by index, whatever PostgreSQL knows of the tables: a plan is kept for as
 * long as its connection, and one that was made while a table was small would read all of it long after it has grown. A
 * generic plan expects few rows to be given, so it looks each of them up. Compiling is worth it for none of them.
 */
export const indexSettings = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  plan_cache_mode: "force_generic_plan",
  jit: "off",
}

const setIndexSettings: PgStatement = {
  name: "set_index_settings",
  text: settingStatement(indexSettings, "transaction ends"),
}

/** Runs an effect in a transaction whose statements find rows by index. */
export const indexedTransaction = <A, E, R>(
  { pg, sql }: Database,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.provideService(
    sql.withTransaction(Effect.andThen(pg.query(setIndexSettings, []), effect)),
    SqlClient.BeginTransaction,
    "BEGIN ISOLATION LEVEL READ COMMITTED",
  )

import { afterAll } from "@effect/vitest"
import { scriptOf } from "@tocsin/adapter-pg/client/PgPoolOptions"
import { Context, Effect, Exit, Layer, type Redacted, Scope } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { keptSessions } from "../postgres/keptSessions.ts"
import { PATIENCE, ScratchPostgres } from "../postgres/ScratchPostgres.ts"

/**
 * A PostgreSQL database without a row, with Tocsin's schema. Later ones are those that were given back,
 * emptied: much faster than another database for every test.
 */
export class EmptiedPostgres extends Context.Service<
  EmptiedPostgres,
  {
    readonly url: Redacted.Redacted
    /** A connection to this database, past the storage. */
    readonly sql: SqlClient.SqlClient
  }
>()("@tocsin/test/storage/EmptiedPostgres") {
  /** For the tests of the file that calls it: its databases are dropped after all of them. */
  static readonly layerOfFile = (): Layer.Layer<EmptiedPostgres, SqlError.SqlError> => {
    const scope = Scope.makeUnsafe()
    afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
    const idle: Array<Database> = []
    const take = Effect.suspend(() => {
      const database = idle.pop()
      return database === undefined ? Scope.provide(make, scope) : Effect.as(database.empty, database)
    })
    return Layer.effect(
      EmptiedPostgres,
      Effect.acquireRelease(take, (database) => Effect.sync(() => idle.push(database))),
    )
  }

  /** A client of the storage in it, which waits as long as a busy machine takes. */
  static readonly client = Layer.unwrap(
    Effect.map(EmptiedPostgres, ({ url }) => PgStorage.layer({ url, ...PATIENCE })),
  )
}

const make = Effect.gen(function* () {
  const { replica, url } = Context.get(
    yield* Layer.build(Layer.fresh(ScratchPostgres.layerMigrated)),
    ScratchPostgres,
  )
  const { sql } = yield* replica({ maxConnections: 1 })
  const empty = Effect.gen(function* () {
    const tables = yield* sql<{ readonly name: string }>`
      SELECT format('%I', tablename) AS name FROM pg_tables
      WHERE schemaname = 'public' AND tablename NOT IN ('schema_migration', 'system_total')
    `
    // Triggers subtract deleted rows from the totals. TRUNCATE creates new files for every table
    // and index: ten times as slow for few rows.
    yield* sql.unsafe(scriptOf(tables.map(({ name }) => `DELETE FROM ${name}`).join("; ")))
  })
  return { url: yield* keptSessions(url), sql, empty }
})

type Database = Effect.Success<typeof make>

import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { PgClient } from "../../src/client/PgClient.ts"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"

class Refusal {
  readonly _tag = "Refusal"
}

/** A table of its own, and what is in it as others see it. */
const makeLog = Effect.fnUntraced(function* (name: string) {
  const { replica } = yield* ScratchPostgres
  const other = yield* replica({ maxConnections: 1 })
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE ${sql(name)} (line text UNIQUE DEFERRABLE INITIALLY IMMEDIATE)`
  return {
    sql,
    write: (line: string) => sql`INSERT INTO ${sql(name)} VALUES (${line})`,
    lines: other.sql<{ line: string }>`SELECT line FROM ${sql(name)} ORDER BY line`.pipe(
      Effect.map((rows) => rows.map(({ line }) => line)),
    ),
  }
})

const assertAllIdle = Effect.gen(function* () {
  const pg = yield* PgClient
  const { idle, total, waiting } = yield* pg.poolStatus
  assert.deepStrictEqual({ idle, waiting }, { idle: total, waiting: 0 })
})

layer(ScratchPostgres.layerClient({ maxConnections: 3 }))("transactions", (it) => {
  it.effect("are seen by others when they commit, and not before", () =>
    Effect.gen(function* () {
      const { lines, sql, write } = yield* makeLog("committed")
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* write("a")
          assert.deepStrictEqual(yield* lines, [])
        }),
      )
      assert.deepStrictEqual(yield* lines, ["a"])
      yield* assertAllIdle
    }),
  )

  it.effect("store nothing when they fail, die or hit an error, and report that failure", () =>
    Effect.gen(function* () {
      const { lines, sql, write } = yield* makeLog("rolled_back")
      const refusal = yield* Effect.flip(
        sql.withTransaction(Effect.andThen(write("a"), Effect.fail(new Refusal()))),
      )
      assert.strictEqual(refusal._tag, "Refusal")
      const died = yield* Effect.exit(sql.withTransaction(Effect.andThen(write("a"), Effect.die("bug"))))
      assert.isTrue(Exit.hasDies(died))
      const error = yield* Effect.flip(sql.withTransaction(Effect.andThen(write("a"), write("a"))))
      assert.strictEqual(error.reason._tag, "UniqueViolation")
      assert.deepStrictEqual(yield* lines, [])
      yield* assertAllIdle
    }),
  )

  it.effect("run on one connection, PgClient included", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const pg = yield* PgClient
      const statement = "SELECT pg_backend_pid() AS pid, $1::text AS given"
      const pids = yield* sql.withTransaction(
        Effect.all(
          [
            sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`,
            pg.query(statement, ["a"]),
            pg.queryJson(statement, []),
          ],
          { concurrency: 3 },
        ),
      )
      assert.strictEqual(new Set(pids.flat().map(({ pid }) => pid)).size, 1)
    }),
  )

  it.effect("use the given BEGIN", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const level = sql.withTransaction(sql`SHOW transaction_isolation`)
      const given = Effect.provideService(
        level,
        SqlClient.BeginTransaction,
        "BEGIN ISOLATION LEVEL SERIALIZABLE",
      )
      assert.deepStrictEqual(yield* given, [{ transaction_isolation: "serializable" }])
      assert.deepStrictEqual(yield* level, [{ transaction_isolation: "read committed" }])
    }),
  )

  it.effect("roll back to a savepoint, and continue", () =>
    Effect.gen(function* () {
      const { lines, sql, write } = yield* makeLog("nested")
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* write("outer")
          yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* write("inner")
              yield* Effect.exit(sql.withTransaction(Effect.andThen(write("innermost"), write("outer"))))
            }),
          )
          yield* Effect.exit(
            sql.withTransaction(Effect.andThen(write("dropped"), Effect.fail(new Refusal()))),
          )
          yield* write("last")
        }),
      )
      assert.deepStrictEqual(yield* lines, ["inner", "last", "outer"])
    }),
  )

  it.effect("undo their savepoints with themselves", () =>
    Effect.gen(function* () {
      const { lines, sql, write } = yield* makeLog("undone")
      yield* Effect.exit(
        sql.withTransaction(Effect.andThen(sql.withTransaction(write("inner")), Effect.fail(new Refusal()))),
      )
      assert.deepStrictEqual(yield* lines, [])
    }),
  )

  it.effect("savepoints of several fibers take turns", () =>
    Effect.gen(function* () {
      const { lines, sql, write } = yield* makeLog("parallel")
      yield* sql.withTransaction(
        Effect.forEach(
          ["a", "b", "a", "c"],
          (line) => Effect.exit(sql.withTransaction(Effect.andThen(write(line), write(`${line}${line}`)))),
          { concurrency: 4 },
        ),
      )
      assert.deepStrictEqual(yield* lines, ["a", "aa", "b", "bb", "c", "cc"])
    }),
  )

  it.effect("whose failed statement was caught do not count as committed", () =>
    Effect.gen(function* () {
      const { lines, sql, write } = yield* makeLog("swallowed")
      const error = yield* Effect.flip(
        sql.withTransaction(Effect.andThen(write("a"), Effect.exit(write("a")))),
      )
      assert.strictEqual(error.reason.operation, "commit")
      assert.include(error.message, "rolled back")
      assert.deepStrictEqual(yield* lines, [])
      yield* assertAllIdle
    }),
  )

  it.effect("refused at COMMIT fail with the reason, and return the connection", () =>
    Effect.gen(function* () {
      const { lines, sql, write } = yield* makeLog("deferred")
      const error = yield* Effect.flip(
        sql.withTransaction(
          Effect.andThen(sql`SET CONSTRAINTS ALL DEFERRED`, Effect.andThen(write("a"), write("a"))),
        ),
      )
      assert.strictEqual(error.reason._tag, "UniqueViolation")
      assert.strictEqual(error.reason.operation, "commit")
      assert.deepStrictEqual(yield* lines, [])
      yield* assertAllIdle
    }),
  )

  it.effect("run effects that wait for their commit", () =>
    Effect.gen(function* () {
      const { lines, sql, write } = yield* makeLog("announced")
      const seen = yield* Ref.make<ReadonlyArray<string>>([])
      const look = Effect.flatMap(Effect.orDie(lines), (now) => Ref.set(seen, now))
      yield* sql.withTransaction(Effect.andThen(sql.afterCommit(look), write("a")))
      assert.deepStrictEqual(yield* Ref.get(seen), ["a"])
    }),
  )
})

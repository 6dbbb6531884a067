import { PgFailure } from "../../src/client/toSqlError.ts"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { testsFrom } from "@tocsin/testing/testsFrom"

const causeOf = (error: SqlError.SqlError): PgFailure => {
  if (!Schema.is(PgFailure)(error.reason.cause)) throw new Error("the cause is no PgFailure")
  return error.reason.cause
}

layer(ScratchPostgres.layerClient())("errors of statements", (it) => {
  const test = testsFrom(SqlClient.SqlClient, it.effect)

  test("a duplicate is a UniqueViolation that names its constraint and no value", function* (sql) {
    yield* sql`CREATE TABLE account (email text CONSTRAINT one_account UNIQUE)`
    const insert = sql`INSERT INTO account ${sql.insert({ email: "ada@example.org" })}`
    yield* insert
    const error = yield* Effect.flip(insert)
    assert.isTrue(error.reason._tag === "UniqueViolation" && error.reason.constraint === "one_account")
    assert.isFalse(error.isRetryable)
    const cause = causeOf(error)
    assert.strictEqual(cause.code, "23505")
    assert.strictEqual(cause.table, "account")
    assert.notInclude(JSON.stringify([error, cause, error.message]), "ada@example.org")
  })

  const failures: ReadonlyArray<readonly [name: string, statement: string, tag: string, code: string]> = [
    ["a missing parent", "INSERT INTO child VALUES (7)", "ConstraintError", "23503"],
    ["a forbidden value", "INSERT INTO parent VALUES (-1)", "ConstraintError", "23514"],
    ["a NULL where none may be", "INSERT INTO parent VALUES (NULL)", "ConstraintError", "23502"],
    ["a syntax error", "SELEKT 1", "SqlSyntaxError", "42601"],
    ["an unknown table", "SELECT * FROM nowhere", "SqlSyntaxError", "42P01"],
    ["an unknown column", "SELECT nothing FROM parent", "SqlSyntaxError", "42703"],
    ["a division by zero", "SELECT 1 / 0", "UnknownError", "22012"],
    ["a NUL in a text", `SELECT '"\\u0000"'::jsonb`, "UnknownError", "22P05"],
  ]
  for (const [name, statement, tag, code] of failures) {
    test(`${name} is a ${tag}`, function* (sql) {
      yield* sql`CREATE TABLE IF NOT EXISTS parent (id int4 PRIMARY KEY CHECK (id > 0))`
      yield* sql`CREATE TABLE IF NOT EXISTS child (parent_id int4 REFERENCES parent)`
      const error = yield* Effect.flip(sql.unsafe(statement))
      assert.strictEqual(error.reason._tag, tag)
      assert.strictEqual(error.reason.operation, "execute")
      assert.strictEqual(causeOf(error).code, code)
    })
  }

  test("a missing right is an AuthorizationError", function* (sql) {
    const error = yield* Effect.flip(
      sql.withTransaction(Effect.andThen(sql`SET LOCAL ROLE pg_monitor`, sql`CREATE SCHEMA not_mine`)),
    )
    assert.strictEqual(error.reason._tag, "AuthorizationError")
  })

  test("a write where only reading is possible is a retryable ConnectionError", function* (sql) {
    const error = yield* sql
      .withTransaction(sql`CREATE TABLE unwritten (id int4)`)
      .pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN READ ONLY"), Effect.flip)
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.strictEqual(causeOf(error).code, "25006")
  })

  it.effect("a statement beyond its time is a StatementTimeoutError", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const { sql } = yield* scratch.replica({ statementTimeout: "3 seconds" })
      const error = yield* Effect.flip(sql`SELECT pg_sleep(600)`)
      assert.strictEqual(error.reason._tag, "StatementTimeoutError")
      assert.isTrue(error.isRetryable)
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    }),
  )

  it.effect("a lock that is not free in time is a LockTimeoutError", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const holder = yield* scratch.replica()
      const waiter = yield* scratch.replica({ lockTimeout: "20 millis" })
      yield* holder.sql`CREATE TABLE guarded (id int4)`
      const error = yield* holder.sql.withTransaction(
        Effect.andThen(holder.sql`LOCK TABLE guarded`, Effect.flip(waiter.sql`SELECT * FROM guarded`)),
      )
      assert.strictEqual(error.reason._tag, "LockTimeoutError")
      assert.isTrue(error.isRetryable)
    }),
  )

  test("of two transactions that wait for each other one is a DeadlockError, and the other commits", function* (sql) {
    yield* sql`CREATE TABLE spot (id int4 PRIMARY KEY, taken int4)`
    yield* sql`INSERT INTO spot VALUES (1, 0), (2, 0)`
    const ready = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
    const take = (id: number) => sql`UPDATE spot SET taken = taken + 1 WHERE id = ${id}`
    const cross = (first: number, second: number, mine: 0 | 1, theirs: 0 | 1) =>
      Effect.exit(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* take(first)
            yield* Deferred.succeed(ready[mine], undefined)
            yield* Deferred.await(ready[theirs])
            yield* take(second)
          }),
        ),
      )
    const exits = yield* Effect.all([cross(1, 2, 0, 1), cross(2, 1, 1, 0)], { concurrency: 2 })
    const failed = exits.filter(Exit.isFailure)
    assert.lengthOf(failed, 1)
    const error = yield* Effect.flip(failed[0] ?? Effect.void)
    assert.strictEqual(error.reason._tag, "DeadlockError")
    assert.isTrue(error.isRetryable)
    assert.deepStrictEqual(yield* sql`SELECT sum(taken)::int4 AS taken FROM spot`, [{ taken: 2 }])
  })

  it.effect("a serialization failure is a SerializationError", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const one = yield* scratch.replica()
      const other = yield* scratch.replica()
      yield* one.sql`CREATE TABLE tally (value int4)`
      yield* one.sql`INSERT INTO tally VALUES (0)`
      const add = ({ sql }: typeof one) => sql`UPDATE tally SET value = value + 1`
      const error = yield* one.sql
        .withTransaction(
          Effect.gen(function* () {
            yield* one.sql`SELECT value FROM tally`
            yield* add(other)
            yield* add(one)
          }),
        )
        .pipe(
          Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ"),
          Effect.flip,
        )
      assert.strictEqual(error.reason._tag, "SerializationError")
      assert.isTrue(error.isRetryable)
      assert.deepStrictEqual(yield* one.sql`SELECT value FROM tally`, [{ value: 1 }])
    }),
  )
})

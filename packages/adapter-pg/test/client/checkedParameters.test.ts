import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { PgClient } from "../../src/client/PgClient.ts"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"

const defectMessage = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

const rejects = (
  name: string,
  place: string,
  run: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>,
) => ({ name, place, run })

const forgotten: string | undefined = undefined

const cases = [
  rejects("a parameter", "$1", (sql) => sql`SELECT ${forgotten}::text`),
  rejects("the second parameter", "$2", (sql) => sql`SELECT ${"a"}::text, ${forgotten}::text`),
  rejects("an element of an array", "$1[2]", (sql) => sql`SELECT ${["a", null, forgotten]}::text[]`),
  rejects("an element of an inner array", "$1[1][0]", (sql) => sql`SELECT ${[["a"], [forgotten]]}::text[]`),
  rejects("a parameter of a plain text", "$1", (sql) => sql.unsafe("SELECT $1::text", [forgotten])),
  rejects(
    "a value of an insert",
    "$2",
    (sql) => sql`INSERT INTO note ${sql.insert({ id: 1, body: forgotten })}`,
  ),
  rejects("a value of an update", "$1", (sql) => sql`UPDATE note SET ${sql.update({ body: forgotten })}`),
  rejects(
    "a member of a list",
    "$3",
    (sql) => sql`SELECT 1 WHERE ${"a"}::text IN ${sql.in(["b", forgotten])}`,
  ),
]

layer(ScratchPostgres.layerClient())("undefined among SQL parameters", (it) => {
  for (const { name, place, run } of cases) {
    it.effect(`${name} is a defect that names its place`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE IF NOT EXISTS note (id int, body text)`
        const exit = yield* Effect.exit(run(sql))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.include(String(defectMessage(exit)), `SQL parameter ${place} is undefined`)
        assert.deepStrictEqual(yield* sql`SELECT * FROM note`, [])
      }),
    )
  }

  it.effect("a parameter of a named statement is a defect", () =>
    Effect.gen(function* () {
      const pg = yield* PgClient
      const exit = yield* Effect.exit(pg.query({ name: "echo", text: "SELECT $1::text" }, [forgotten]))
      assert.include(String(defectMessage(exit)), "SQL parameter $1 is undefined")
    }),
  )

  it.effect("leaves the connection usable", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const pg = yield* PgClient
      yield* Effect.exit(sql`SELECT ${forgotten}::text`)
      assert.deepStrictEqual(yield* sql`SELECT ${1}::int4 AS one`, [{ one: 1 }])
      const { idle, total } = yield* pg.poolStatus
      assert.strictEqual(idle, total)
    }),
  )
})

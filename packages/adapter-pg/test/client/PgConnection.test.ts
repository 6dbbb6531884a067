import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { PgClient } from "../../src/client/PgClient.ts"
import { scriptOf } from "../../src/client/PgPoolOptions.ts"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { testsFrom } from "@tocsin/testing/testsFrom"

const preparedNames = (sql: SqlClient.SqlClient) =>
  sql<{ name: string }>`SELECT name FROM pg_prepared_statements ORDER BY name`.pipe(
    Effect.map((rows) => rows.map((row) => row.name)),
  )

// One connection, so that what is prepared there can be seen.
layer(ScratchPostgres.layerClient({ maxConnections: 1 }))("statements on a connection", (it) => {
  const test = testsFrom(SqlClient.SqlClient, it.effect)

  test("a repeated text is prepared once, under a name", function* (sql) {
    const before = yield* preparedNames(sql)
    for (let turn = 0; turn < 5; turn++) {
      assert.deepStrictEqual(yield* sql`SELECT ${turn}::int4 + 1 AS next`, [{ next: turn + 1 }])
    }
    assert.lengthOf(yield* preparedNames(sql), before.length + 1)
  })

  test("a connection keeps a limited number of statements, and drops the least recently used", function* (sql) {
    for (let length = 1; length < 250; length++) {
      const list = Array.from({ length }, (_, index) => String(index))
      assert.deepStrictEqual(yield* sql`SELECT ${"0"} IN ${sql.in(list)} AS found`, [{ found: true }])
    }
    assert.lengthOf(yield* preparedNames(sql), 200)
  })

  test("one text is one statement, whatever its parameters", function* (sql) {
    const pg = yield* PgClient
    const double = "SELECT $1::int8 * 2 AS doubled, $2::int8[] AS list"
    const first = yield* pg.query(double, [21n, []])
    assert.deepStrictEqual(first, [{ doubled: 42n, list: [] }])
    const before = yield* preparedNames(sql)
    for (const list of [[null], [1], [1, 2 ** 40, null], [1n]]) {
      assert.deepStrictEqual(yield* pg.query(double, [2 ** 40, list]), [
        { doubled: 2n ** 41n, list: list.map((value) => (value === null ? null : BigInt(value))) },
      ])
    }
    assert.deepStrictEqual(yield* preparedNames(sql), before)
  })

  test("a failed statement can be prepared and run afterwards", function* (sql) {
    const half = (value: number) => sql`SELECT 10 / ${value}::int4 AS half`
    for (const value of [0, 0, 0]) assert.isTrue(Exit.isFailure(yield* Effect.exit(half(value))))
    assert.deepStrictEqual(yield* half(5), [{ half: 2 }])
    assert.deepStrictEqual(yield* half(2), [{ half: 5 }])
  })

  test("a script runs each time, and its later commands see what the earlier ones did", function* (sql) {
    const script = scriptOf(`
      CREATE TABLE IF NOT EXISTS scripted (line text);
      CREATE OR REPLACE FUNCTION line_of(n int4) RETURNS text LANGUAGE sql AS $$ SELECT 'it''s ' || n $$;
      INSERT INTO scripted SELECT line_of(7)`)
    for (let turn = 0; turn < 3; turn++) yield* sql.unsafe(script)
    assert.deepStrictEqual(yield* sql`SELECT DISTINCT line FROM scripted`, [{ line: "it's 7" }])
    yield* Effect.flip(sql.unsafe(scriptOf("DELETE FROM scripted; SELECT 1 / 0")))
    assert.deepStrictEqual(yield* sql`SELECT count(*) AS count FROM scripted`, [{ count: 3n }])
  })

  test("a table changed under a prepared statement goes unnoticed", function* (sql) {
    yield* sql`CREATE TABLE changing (id int4)`
    const select = sql`SELECT * FROM changing WHERE id > ${0}`
    for (let turn = 0; turn < 3; turn++) assert.deepStrictEqual(yield* select, [])
    yield* sql`ALTER TABLE changing ADD COLUMN more text`
    assert.deepStrictEqual(yield* select, [])
    yield* sql`DEALLOCATE ALL`.unprepared
    assert.deepStrictEqual(yield* select, [])
  })

  test("a table changed under a transaction's prepared statement is a retryable error once", function* (sql) {
    yield* sql`CREATE TABLE changing_within (id int4)`
    const select = sql`SELECT * FROM changing_within WHERE id > ${0}`
    for (let turn = 0; turn < 3; turn++) assert.deepStrictEqual(yield* select, [])
    yield* sql`ALTER TABLE changing_within ADD COLUMN more text`
    const error = yield* Effect.flip(sql.withTransaction(select))
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.isTrue(error.isRetryable)
    assert.deepStrictEqual(yield* sql.withTransaction(select), [])
  })
})

layer(ScratchPostgres.layerClient())("rows in bulk", (it) => {
  const test = testsFrom(SqlClient.SqlClient, it.effect)

  test("a large parameter and a large result", function* (sql) {
    const text = "€".repeat(5_000_000)
    const [row] = yield* sql<{ same: string; bytes: number }>`
      SELECT given AS same, octet_length(given) AS bytes FROM (SELECT ${text}::text AS given) AS source
    `
    assert.strictEqual(row?.bytes, 15_000_000)
    assert.isTrue(row?.same === text)
  })

  test("arrays become rows through unnest", function* (sql) {
    const ids = Array.from({ length: 5_000 }, (_, index) => BigInt(index))
    const names = ids.map((id) => (id % 2n === 0n ? null : `n ${id}`))
    const rows = yield* sql`SELECT id, name FROM unnest(${ids}::int8[], ${names}::text[]) AS given (id, name)`
    assert.deepStrictEqual(
      rows,
      ids.map((id, index) => ({ id, name: names[index] })),
    )
  })

  it.effect("one JSON parameter becomes rows through json_to_recordset", () =>
    Effect.gen(function* () {
      const pg = yield* PgClient
      const rows = yield* pg.queryJson(
        `SELECT id, at, name, loud, labels
          FROM json_to_recordset($1) AS given (id int4, at int8, name text, loud boolean, labels jsonb)`,
        [
          { id: 1, at: "253402300799999999", name: 'q"uote', loud: true, labels: { a: "b" } },
          { id: 2, at: null, name: "", loud: false, labels: null },
        ],
      )
      assert.deepStrictEqual(rows, [
        { id: 1, at: 253402300799999999n, name: 'q"uote', loud: true, labels: { a: "b" } },
        { id: 2, at: null, name: "", loud: false, labels: null },
      ])
    }),
  )

  test("no rows at all through an empty array, list and JSON array", function* (sql) {
    const pg = yield* PgClient
    assert.deepStrictEqual(yield* sql`SELECT * FROM unnest(${[]}::int8[])`, [])
    assert.deepStrictEqual(yield* sql`SELECT 1 WHERE ${1}::int4 IN ${sql.in([])}`, [])
    const statement = "SELECT * FROM json_to_recordset($1) AS given (id int4)"
    assert.deepStrictEqual(yield* pg.queryJson(statement, []), [])
  })

  it.effect("a bigint in a JSON parameter is a defect, not another number", () =>
    Effect.gen(function* () {
      const pg = yield* PgClient
      const untyped = [{ id: 1n }] as unknown as ReadonlyArray<never>
      const exit = yield* Effect.exit(pg.queryJson("SELECT $1::json", untyped))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }),
  )

  test("the helpers for insert, update and many updates", function* (sql) {
    yield* sql`CREATE TABLE thing (id int8 PRIMARY KEY, name text, "odd ""name" int4)`
    const inserted = yield* sql`INSERT INTO thing ${sql
      .insert([
        { id: 1n, name: "a", 'odd "name': 1 },
        { id: 2n, name: null, 'odd "name': 2 },
      ])
      .returning("*")}`
    assert.lengthOf(inserted, 2)
    yield* sql`UPDATE thing SET ${sql.update({ id: 2n, name: "b" }, ["id"])} WHERE id = ${2n}`
    const changes = sql.updateValues(
      [
        { id: 1, name: "x" },
        { id: 2, name: "y" },
      ],
      "change",
    )
    const updated = yield* sql`
      UPDATE thing SET name = change.name FROM ${changes} WHERE thing.id = change.id::int8
    `.raw
    assert.propertyVal(updated, "rowCount", 2)
    assert.deepStrictEqual(yield* sql`SELECT * FROM thing ORDER BY id`, [
      { id: 1n, name: "x", 'odd "name': 1 },
      { id: 2n, name: "y", 'odd "name': 2 },
    ])
  })

  test("an update of many rows returns the columns of RETURNING", function* (sql) {
    yield* sql`CREATE TABLE counter (id int4, value int4)`
    yield* sql`INSERT INTO counter VALUES (1, 10), (2, 20)`
    const changes = sql
      .updateValues([{ by: "5" }], "change")
      .returning(sql`counter.id, counter.value + ${1}::int4 AS more`)
    const rows = yield* sql`UPDATE counter SET value = value + change.by::int4 FROM ${changes}`
    assert.deepStrictEqual(rows, [
      { id: 1, more: 16 },
      { id: 2, more: 26 },
    ])
  })
})

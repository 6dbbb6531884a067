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
]

layer(ScratchPostgres.layerClient())("undefined among SQL parameters", (it) => {
  for (const { name, place, run } of cases) {
    it.effect(`${name} is a defect that names its place`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const exit = yield* Effect.exit(run(sql))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.include(String(defectMessage(exit)), `SQL parameter ${place} is undefined`)
      }),
    )
  }

  it.effect("a parameter of a named statement is a defect", () =>
    Effect.gen(function* () {
      const pg = yield* PgClient
      const exit = yield* Effect.exit(pg.query("SELECT $1::text", [forgotten]))
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

interface RoundTrip {
  readonly type: string
  readonly sent: unknown
  /** The value that comes back, where it differs from the sent one. */
  readonly received?: unknown
}

/** The types that the service's statements send or read. */
const roundTrips: ReadonlyArray<RoundTrip> = [
  { type: "int2", sent: 7 },
  { type: "int4", sent: -2147483648 },
  { type: "int8", sent: 9223372036854775807n },
  { type: "int8", sent: -9223372036854775808n },
  { type: "int8", sent: 5, received: 5n },
  { type: "int8", sent: 2 ** 40, received: 2n ** 40n },
  { type: "xid", sent: 4294967295 },
  { type: "xid8", sent: 18446744073709551615n },
  { type: "float8", sent: 0.1 },
  { type: "numeric", sent: "12345678901234567890.5" },
  { type: "boolean", sent: true },
  { type: "uuid", sent: "8c2b6a1e-0000-4000-8000-0123456789ab" },
  { type: "text", sent: "žluťoučký 'kůň' \\ \" 🐎" },
  { type: "text", sent: "" },
  { type: "text", sent: "\uFEFFa\uFFFD" },
  { type: "text[]", sent: ["\uFEFF\uFFFD", "plain"] },
  { type: "json", sent: JSON.stringify({ a: [1, null] }), received: { a: [1, null] } },
  { type: "jsonb", sent: JSON.stringify({ b: "c" }), received: { b: "c" } },
  { type: "int8[]", sent: [1n, null, -9223372036854775808n] },
  { type: "int8[]", sent: [null] },
  { type: "int8[]", sent: [] },
  { type: "int8[]", sent: [1, 2 ** 40], received: [1n, 2n ** 40n] },
  { type: "int2[]", sent: [1, null, 3] },
  { type: "int4[]", sent: [1, null, 3] },
  { type: "text[]", sent: ["", "NULL", null, 'a"b\\c,{}'] },
  { type: "text[]", sent: [] },
  { type: "boolean[]", sent: [true, false, null] },
  { type: "json[]", sent: ['{"a":"\\""}', null], received: [{ a: '"' }, null] },
  { type: "int8", sent: null },
  { type: "jsonb", sent: null },
  { type: "int8[]", sent: null },
]

layer(ScratchPostgres.layerClient())("values in and out of PostgreSQL", (it) => {
  for (const [index, { received, sent, type }] of roundTrips.entries()) {
    it.effect(`${type} (${index})`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const expected = received === undefined ? sent : received
        const statement = sql`SELECT ${sent}::${sql.literal(type)} AS value`
        // The first run is unnamed, the second prepares, the third uses what was prepared.
        for (const rows of [yield* statement, yield* statement, yield* statement]) {
          assert.deepStrictEqual(rows, [{ value: expected }])
        }
        assert.deepStrictEqual(yield* statement.values, [[expected]])
      }),
    )
  }
})

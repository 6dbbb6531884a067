import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"

const bytes = (...values: ReadonlyArray<number>) => Uint8Array.from(values)

interface RoundTrip {
  readonly type: string
  readonly sent: unknown
  /** What comes back, where it is not what was sent. */
  readonly received?: unknown
}

const roundTrips: ReadonlyArray<RoundTrip> = [
  { type: "int2", sent: 7 },
  { type: "int4", sent: -2147483648 },
  { type: "int8", sent: 9223372036854775807n },
  { type: "int8", sent: -9223372036854775808n },
  { type: "int8", sent: 5, received: 5n },
  { type: "xid8", sent: 18446744073709551615n },
  { type: "float8", sent: 0.1 },
  { type: "numeric", sent: "12345678901234567890.5" },
  { type: "boolean", sent: true },
  { type: "text", sent: "žluťoučký 'kůň' \\ \" 🐎" },
  { type: "text", sent: "" },
  { type: "bytea", sent: bytes(0, 39, 92, 255) },
  { type: "bytea", sent: bytes() },
  { type: "json", sent: JSON.stringify({ a: [1, null] }), received: { a: [1, null] } },
  { type: "jsonb", sent: { b: "c" } },
  { type: "date", sent: "2024-02-29" },
  { type: "timestamp", sent: "0001-01-01 00:00:00.123456" },
  { type: "int8[]", sent: [1n, null, -9223372036854775808n] },
  { type: "int8[]", sent: [[1n], [2n]] },
  { type: "int8[]", sent: [] },
  { type: "int4[]", sent: [1, null, 3] },
  { type: "text[]", sent: ["", "NULL", null, 'a"b\\c,{}'] },
  { type: "text[]", sent: [] },
  { type: "boolean[]", sent: [true, false, null] },
  { type: "bytea[]", sent: [bytes(1, 2), bytes(), null] },
  { type: "numeric[]", sent: ["0.1", "12345678901234567890.5"] },
  { type: "timestamp[]", sent: ["2024-02-29 23:59:59.999999"] },
  { type: "jsonb[]", sent: [{ a: 1 }, null] },
  { type: "int8", sent: null },
  { type: "bytea", sent: null },
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

  it.effect("timestamptz keeps its microseconds", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{
        value: unknown
      }>`SELECT ${"2024-02-29T12:00:00.123456Z"}::timestamptz AS value`
      assert.include(row?.value, ".123456")
    }),
  )

  it.effect("bytes do not share memory with the driver", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ value: Uint8Array }>`SELECT ${bytes(1, 2, 3)}::bytea AS value`
      assert.strictEqual(row?.value.constructor, Uint8Array)
      assert.strictEqual(row?.value.buffer.byteLength, 3)
    }),
  )
})

import { assert, layer } from "@effect/vitest"
import { copiedTables } from "@tocsin/core/lists/StoredTables"
import type { ColumnType } from "@tocsin/core/kernel/model/TableShape"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect } from "effect"

const STORED_AS: Readonly<Record<ColumnType, string>> = {
  text: "text",
  uuid: "uuid",
  instant: "bigint",
  integer: "integer",
  long: "bigint",
  boolean: "boolean",
  object: "json",
  array: "json",
  uuids: "json",
  bytes: "bytea",
}

/** Tables without a shape: the ledger of migrations, and what triggers keep. */
const OTHER_TABLES = ["schema_migration", "system_total", "listed_member"]

const migrated = Effect.gen(function* () {
  const { replica } = yield* ScratchPostgres
  return (yield* replica()).sql
})

layer(ScratchPostgres.layerMigrated)("the shapes of tables", (it) => {
  it.effect("name every column of the migrated schema, with its type and whether it is nullable", () =>
    Effect.gen(function* () {
      const sql = yield* migrated
      const stored = yield* sql<{ column: string }>`
        SELECT format('%s.%s %s%s', table_name, column_name, data_type,
                      CASE WHEN is_nullable = 'YES' THEN ' NULL' ELSE '' END) AS column
        FROM information_schema.columns
        WHERE table_schema = current_schema() AND is_generated = 'NEVER'`
      const shaped = copiedTables.flatMap(({ name, columns, kept = [] }) => [
        ...Object.entries(columns).map(
          ([column, { type, whenNull }]) =>
            `${name}.${column} ${STORED_AS[type]}${whenNull === undefined ? "" : " NULL"}`,
        ),
        ...kept.map((column) => `${name}.${column} boolean`),
      ])
      assert.deepStrictEqual(
        stored
          .map(({ column }) => column)
          .filter((column) => !OTHER_TABLES.some((table) => column.startsWith(`${table}.`)))
          .toSorted(),
        shaped.toSorted(),
      )
    }),
  )

  it.effect("name the primary keys", () =>
    Effect.gen(function* () {
      const sql = yield* migrated
      const stored = yield* sql<{ name: string; key: ReadonlyArray<string> }>`
        SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attname) AS key
        FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
        WHERE i.indisprimary AND c.relnamespace = current_schema()::regnamespace GROUP BY c.relname`
      assert.deepStrictEqual(
        new Map(
          stored.filter(({ name }) => !OTHER_TABLES.includes(name)).map(({ name, key }) => [name, key]),
        ),
        new Map(copiedTables.map(({ name, key }) => [name, key.toSorted()])),
      )
    }),
  )

  it.effect("service heartbeat no column as moving that is part of an index", () =>
    Effect.gen(function* () {
      const sql = yield* migrated
      const indexes = yield* sql<{ name: string; definition: string }>`
        SELECT tablename AS name, indexdef AS definition FROM pg_indexes WHERE schemaname = current_schema()`
      const indexed = copiedTables.flatMap(({ name, columns }) =>
        Object.keys(columns).filter(
          (column) =>
            columns[column]?.moves === true &&
            indexes.some(
              (index) => index.name === name && new RegExp(`\\b${column}\\b`).test(index.definition),
            ),
        ),
      )
      assert.deepStrictEqual(indexed, [])
    }),
  )
})

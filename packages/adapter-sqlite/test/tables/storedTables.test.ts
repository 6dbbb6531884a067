import { assert, describe, it } from "@effect/vitest"
import { copiedTables } from "@tocsin/core/lists/StoredTables"
import type { ColumnType } from "@tocsin/core/kernel/model/TableShape"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate } from "../../src/migrations/migrate.ts"

const STORED_AS: Readonly<Record<ColumnType, string>> = {
  text: "TEXT",
  uuid: "TEXT",
  instant: "INTEGER",
  integer: "INTEGER",
  long: "INTEGER",
  boolean: "INTEGER",
  object: "TEXT",
  array: "TEXT",
  uuids: "TEXT",
  bytes: "BLOB",
}

/** Tables without a shape: the ledger of migrations, and what triggers keep. */
const OTHER_TABLES = `'schema_migration', 'system_total', 'listed_member', 'label', 'sqlite_sequence'`

describe("the shapes of tables", () => {
  const connection = SqliteConnection.open(IN_MEMORY)
  migrate(connection, start)

  it("name every column of the migrated schema, with its type and whether it is nullable", () => {
    // The alias of the row id is never NULL, though it is not declared so.
    const stored = connection
      .query<[string]>(
        `SELECT t.name || '.' || c.name || ' ' || c.type || iif(c."notnull" OR c.pk, '', ' NULL')
        FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c
        WHERE t.type = 'table' AND c.hidden = 0 AND t.name NOT IN (${OTHER_TABLES})`,
      )
      .all()
    const shaped = copiedTables.flatMap(({ name, columns, kept = [] }) => [
      ...Object.entries(columns).map(
        ([column, { type, whenNull }]) =>
          `${name}.${column} ${STORED_AS[type]}${whenNull === undefined ? "" : " NULL"}`,
      ),
      ...kept.map((column) => `${name}.${column} INTEGER`),
    ])
    assert.deepStrictEqual(stored.flat().toSorted(), shaped.toSorted())
  })

  it("name the primary keys", () => {
    const keyOf = connection.query<[string]>(
      "SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk",
    )
    for (const { name, key } of copiedTables) assert.deepStrictEqual(keyOf.all(name).flat(), [...key], name)
  })
})

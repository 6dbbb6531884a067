import { DatabaseSync } from "node:sqlite"
import { copiedTables } from "@tocsin/core/lists/StoredTables"
import type { ColumnType } from "@tocsin/core/kernel/model/TableShape"

/** A value for each type of column, also for one that may be a severity only. */
const VALUES: Readonly<Record<ColumnType, string | number | Uint8Array>> = {
  text: "warning",
  uuid: "01933b2a-0000-7000-8000-000000000000",
  instant: 1,
  integer: 1,
  long: 1,
  boolean: 0,
  object: '{"10":1,"2":{"a":"\\u00e9"}}',
  array: "[]",
  uuids: "[]",
  bytes: new Uint8Array([0, 1, 255]),
}

/** Adds a row to each table of a database file that has none, but to those that are left out. */
export const fillEmptyTables = (file: string, without: ReadonlyArray<string> = []): void => {
  const database = new DatabaseSync(file)
  for (const { columns, name } of copiedTables.filter((table) => !without.includes(table.name))) {
    const places = Object.keys(columns).map(() => "?")
    const select = `SELECT ${places.join(", ")} WHERE NOT EXISTS (SELECT 1 FROM ${name})`
    database
      .prepare(`INSERT INTO ${name} (${Object.keys(columns).join(", ")}) ${select}`)
      .run(...Object.values(columns).map(({ type }) => VALUES[type]))
  }
  database.close()
}

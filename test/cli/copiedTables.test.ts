import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { copiedTables } from "@tocsin/server/copy/copiedTables"
import { Effect, Redacted } from "effect"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { tocsin, warmUp } from "./tocsin.ts"

beforeAll(warmUp)

/**
 * What each storage derives for itself, or keeps about itself: tables, and columns that are stored
 * but not copied.
 */
const DERIVED = {
  tables: ["schema_migration", "system_total", "sqlite_sequence"],
  columns: ["check_event.is_kept"],
}

const expected = copiedTables
  .flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`))
  .toSorted()

const copiedOf = (found: ReadonlyArray<{ readonly table: string; readonly column: string }>) =>
  found
    .filter(({ table }) => !DERIVED.tables.includes(table))
    .map(({ table, column }) => `${table}.${column}`)
    .filter((name) => !DERIVED.columns.includes(name))
    .toSorted()

describe("tocsin copy carries", () => {
  it.live("every column of every table of SQLite", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      yield* tocsin(place, "migrate")
      const database = new DatabaseSync(join(place.cwd, "data", "tocsin.db"))
      const found = database
        .prepare(
          `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c
          WHERE t.type = 'table' AND c.hidden = 0`,
        )
        .all() as unknown as ReadonlyArray<{ table: string; column: string }>
      database.close()
      assert.deepStrictEqual(copiedOf(found), expected)
    }),
  )

  it.live("every column of every table of PostgreSQL", () =>
    Effect.gen(function* () {
      const { url, replica } = yield* scratchPostgres
      const place = { cwd: yield* scratchFolder, environment: { DATABASE_URL: Redacted.value(url) } }
      yield* tocsin(place, "migrate")
      const { sql } = yield* replica({ maxConnections: 1 })
      const found = yield* sql<{ table: string; column: string }>`
        SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
        WHERE table_schema = current_schema() AND is_generated = 'NEVER'`
      assert.deepStrictEqual(copiedOf(found), expected)
    }),
  )
})

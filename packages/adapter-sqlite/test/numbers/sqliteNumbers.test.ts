import { assert, describe, it } from "@effect/vitest"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { findParts, findSeriesOf } from "../../src/numbers/sqliteNumbers.ts"

describe("numbers of one check", () => {
  it("are found by indexes: their series by the check, and their parts by series and time", () => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start)
    const planOf = (sql: string) =>
      connection
        .query<[id: bigint, parent: bigint, unused: bigint, detail: string]>(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(([, , , detail]) => detail)
    const series =
      "SEARCH number_series USING INDEX number_series_of_check (registration_id=? AND check_id=?)"
    assert.deepStrictEqual(planOf(findSeriesOf), [series])
    assert.deepStrictEqual(planOf(findParts), [
      series,
      "SEARCH number_part USING INDEX sqlite_autoindex_number_part_1 (kind=? AND start=? AND series_id=?)",
      "LIST SUBQUERY 1",
      "SCAN json_each VIRTUAL TABLE INDEX 1:",
    ])
  })
})

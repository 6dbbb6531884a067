import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import {
  byCheck,
  INSERT_FORMER_EXPECTATIONS,
  PRESENT_EXPECTATIONS,
} from "@tocsin/testing/rows/formerExpectations"
import { Effect } from "effect"
import { migrate, migrations } from "../../src/migrations/migrate.ts"
import { keyedTables } from "../../src/tables/keyedTables.ts"

layer(ScratchPostgres.layer)("expectations of the first version", (it) => {
  it.effect("become a row for each thing that they meant", () =>
    Effect.gen(function* () {
      const { sql } = yield* (yield* ScratchPostgres).replica()
      yield* migrate(sql, { known: migrations.slice(0, 2) })
      yield* sql.unsafe(INSERT_FORMER_EXPECTATIONS)
      yield* migrate(sql)
      const rowsOf = (name: keyof typeof PRESENT_EXPECTATIONS) => {
        const { alias, columns, decode } = keyedTables[name]
        const all = sql.unsafe<Record<string, unknown>>(`SELECT ${columns} FROM ${name} AS ${alias}`)
        return Effect.map(all, (rows) =>
          byCheck(rows.map((row): { readonly check_id: string } => decode(row))),
        )
      }
      assert.deepStrictEqual<unknown>(
        {
          check_label: yield* rowsOf("check_label"),
          expectation: yield* rowsOf("expectation"),
          job_run: yield* rowsOf("job_run"),
          reported_alert: yield* rowsOf("reported_alert"),
        },
        PRESENT_EXPECTATIONS,
      )
    }),
  )
})

import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { copiedTables } from "@tocsin/core/lists/StoredTables"
import { start } from "@tocsin/testing/samples"
import { vi } from "vitest"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { makeStaleAgents } from "../../src/reads/staleAgents.ts"
import { makeCounts } from "../../src/reads/systemCounts.ts"
import { makeRetentionTables } from "../../src/retention/expire.ts"
import { makeTables } from "../../src/tables/makeTables.ts"

/** Steps that read all of something, and why they may. */
const allowedScans: ReadonlyArray<RegExp> = [
  // The values of parameters.
  /^SCAN (json_each|wanted|other) /,
  /^SCAN \d+-ROW VALUES CLAUSE$/,
  // The summary counts offline agents, at most once a second.
  /^SCAN agent$/,
  // Indexes that hold nothing but what is looked for: pending agents, open incidents.
  /^SCAN agent USING (COVERING )?INDEX agent_pending$/,
  /^SCAN incident USING COVERING INDEX incident_open$/,
  // The first row of a table of few.
  /^SCAN removed_registration$/,
  // Few rows, which commands read together.
  ...copiedTables.flatMap(({ group, name }) => (group?.length === 0 ? [new RegExp(`^SCAN ${name}$`)] : [])),
  // Receivers, which are few, and an index of what is being sent.
  /^SCAN waiting$/,
  /^SCAN outbox USING INDEX outbox_leased$/,
]

describe("statements of the tables", () => {
  const opening = vi.spyOn(DatabaseSync.prototype, "prepare")
  const connection = SqliteConnection.open(IN_MEMORY)
  const [database] = opening.mock.contexts
  opening.mockRestore()
  if (!(database instanceof DatabaseSync)) throw new Error("the connection prepared nothing")
  migrate(connection, start)
  const prepare = vi.spyOn(connection, "query")
  makeTables(connection)
  makeRetentionTables(connection)
  makeCounts(connection)
  makeStaleAgents(connection, Effect.sync)
  const statements = prepare.mock.calls.map(([sql]) => sql)
  prepare.mockRestore()

  const explain = (sql: string) => {
    const parameters = Array.from(sql.matchAll(/\?(?!\d)|\?1/g), () => 1)
    const query = connection.query<[bigint, bigint, bigint, string]>(`EXPLAIN QUERY PLAN ${sql}`)
    return () => query.all(...(sql.includes("?1") ? [1] : parameters)).map(([, , , detail]) => detail)
  }

  it("are planned once, whatever their limits are", () => {
    let questions = 0
    // SQLite asks whenever it plans.
    database.setAuthorizer(() => {
      questions += 1
      return 0
    })
    const again = statements.filter((sql) => {
      const run = explain(sql)
      run()
      const before = questions
      run()
      return questions > before
    })
    database.setAuthorizer(null)
    assert.deepStrictEqual(again, [])
    assert.isAbove(questions, 0)
  })

  it.each(statements)("an index serves %s", (sql) => {
    const plan = explain(sql)()
    const scans = plan.filter(
      (step) => step.startsWith("SCAN") && !allowedScans.some((allowed) => allowed.test(step)),
    )
    assert.deepStrictEqual(scans, [])
    // Nearly all that waits may be in one state.
    assert.isFalse(
      plan.some((step) => step.endsWith("(state=?)")),
      plan.join("; "),
    )
    assert.isFalse(
      plan.some((step) => step.includes("TEMP B-TREE")),
      plan.join("; "),
    )
  })

  it("cover every table", () => {
    const names = connection
      .query<[string]>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
      .flat()
    const unused = names.filter((name) => !statements.some((sql) => new RegExp(`\\b${name}\\b`).test(sql)))
    // Triggers write what incidents are listed by.
    assert.deepStrictEqual(unused.toSorted(), ["listed_member", "number_part", "schema_migration"])
  })
})

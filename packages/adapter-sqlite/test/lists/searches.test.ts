import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import { type ListFilters, orderColumns } from "@tocsin/core/lists/ListDefinitions"
import { agentRecord, checkRecord } from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import { Effect } from "effect"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { makePageReads, pageStatements } from "../../src/lists/pageReads.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { makeTables } from "../../src/tables/makeTables.ts"

const CHECK_NAME = /^check-/

/** More than a search passes at once, twice over; every 700th is not ok, and a few at borders have a word. */
const CHECKS = Array.from({ length: 4_100 }, (_, n): CheckRecord => ({
  ...checkRecord(agentRecord("a"), `check-${String(n).padStart(4, "0")}`),
  status: n % 700 === 0 ? "critical" : "ok",
  summary: [0, 1_999, 2_000, 2_001, 4_099].includes(n) ? "Full disk" : "fine",
}))

describe("a search for checks", () => {
  const connection = SqliteConnection.open(IN_MEMORY)
  migrate(connection, start)
  const { agents, checks } = makeTables(connection)
  connection.transaction(() => {
    agents.write({ before: undefined, after: agentRecord("a") })
    for (const after of CHECKS) checks.write({ before: undefined, after })
  })
  let reads = 0
  const page = makePageReads(connection, (use) =>
    Effect.sync(() => {
      reads += 1
      return use()
    }),
  )
  const query = { list: "checks", sort: "agent_id", direction: "asc" } as const
  const filters: ReadonlyArray<ListFilters["checks"]> = [
    { search: "disk" },
    { search: "nothing" },
    { status: "critical" },
    { status: "ok", search: "disk", agent_id: AgentId.make("a") },
    { status: "not_ok", agent_id: AgentId.make("b") },
  ]

  it.effect("finds what one statement over all rows finds, from any place and in either direction", () =>
    Effect.gen(function* () {
      for (const filter of filters)
        for (const isBackward of [false, true])
          for (const at of [undefined, 0, 1_999, 2_000, 4_099])
            for (const limit of [1, 3, 10]) {
              const row = at === undefined ? undefined : CHECKS[at]
              const values = row && orderColumns("checks", "agent_id").map((column) => column.of(row))
              const from = values && { values, isInclusive: at === 2_000 }
              const request = { ...query, filter, from, isBackward, limit }
              const [whole] = pageStatements(request, { notifiers: [] })
              const expected =
                whole === undefined
                  ? []
                  : connection.query<ReadonlyArray<unknown>>(whole.sql).all(...whole.values)
              assert.deepStrictEqual(
                (yield* page(request)).map(({ check_id }) => check_id),
                expected.map((row) => row.find((value) => CHECK_NAME.test(String(value)))),
              )
            }
    }),
  )

  it.effect("reads in pieces, whatever it finds, and no further than a full page", () =>
    Effect.gen(function* () {
      const readsOf = Effect.fnUntraced(function* (filter: ListFilters["checks"], limit: number) {
        reads = 0
        yield* page({ ...query, filter, from: undefined, isBackward: false, limit })
        return reads
      })
      assert.strictEqual(yield* readsOf({ search: "nothing" }, 100), 3)
      assert.strictEqual(yield* readsOf({ search: "disk" }, 2), 1)
      assert.strictEqual(yield* readsOf({ search: "disk" }, 3), 2)
      assert.strictEqual(yield* readsOf({ status: "critical" }, 100), 1)
    }),
  )
})

import { assert, layer } from "@effect/vitest"
import { type PageStatement, pageStatement } from "@tocsin/adapter-pg/lists/pageStatement"
import {
  findOwn,
  findParts,
  findSeriesOf,
  lockParts,
  removeParts,
} from "@tocsin/adapter-pg/numbers/pgNumbers"
import { findBacklog, findLate, findMetricCounts } from "@tocsin/adapter-pg/reads/systemCounts"
import { findDueIncidents } from "@tocsin/adapter-pg/tables/IncidentTable"
import {
  findHeldOutbox,
  lockClaimableAlerts,
  lockClaimableOutbox,
} from "@tocsin/adapter-pg/tables/OutboxTable"
import {
  type ListName,
  orderColumns,
  type PageRequest,
  type Position,
} from "@tocsin/core/lists/ListDefinitions"
import { Context, Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { deepPosition, type RunSql } from "../../bench/depth/deepPosition.ts"
import { type AnyQuery, nameOf } from "../../bench/depth/listings.ts"
import { seedPostgres } from "../../bench/seed/seedPostgres.ts"
import { HALVES, queriesOf } from "./sampledQueries.ts"
import { size, storm } from "./storm.ts"
import { type PlanNode, planNodes, rowsOf, rowsRead } from "../postgres/planNodes.ts"
import { PATIENCE, ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { start } from "@tocsin/testing/samples"

const LIMIT = 10

/**
 * The rows that a page may read. Outbox items are merged from the most ranges of an index: one for
 * each state, notifier and kind of notification, each read as far as a page goes; the names of
 * notifiers take a look each. A fortieth of the table of a change's run, and as few at full size.
 */
const MOST_ROWS = 500

/** The most rows that a page of merged ranges sorts. */
const MOST_SORTED = 7 * 4 * 2 * LIMIT

/** Open incidents of an opener have one order: a page in another one, or of some of them, may pass over some. */
const isOfOpen = ({ filter, list }: AnyQuery): boolean =>
  list === "incidents" &&
  (filter.agent_id !== undefined || filter.check_id !== undefined) &&
  filter.state !== "resolved"

/** Of the storm's open incidents, a check of each agent opened this part. */
const MOST_OPEN_OF_A_CHECK = size.incidents / 5

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `'{${value.map((one) => `"${String(one)}"`).join()}}'`
  return `'${String(value)}'`
}

/**
 * Prepares a statement separately, as a replica would, and runs it. Returns all nodes of its plan.
 */
const explain = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { text, values }: PageStatement) {
  yield* sql.unsafe(`PREPARE page AS ${text}`).unprepared
  const [row] = yield* sql.unsafe<{ "QUERY PLAN": unknown }>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE page${values.length === 0 ? "" : `(${values.map(literal).join(", ")})`}`,
  ).unprepared
  yield* sql.unsafe("DEALLOCATE page").unprepared
  return planNodes(row?.["QUERY PLAN"])
})

/** How many rows the nodes that sort took in. */
const rowsSorted = (nodes: ReadonlyArray<PlanNode>): number =>
  nodes
    .filter((node) => node["Node Type"].endsWith("Sort"))
    .flatMap((node) => node.Plans ?? [])
    .reduce((sum, input) => sum + rowsOf(input), 0)

/**
 * Whether an index is walked up to a position that it is not entered at: PostgreSQL enters it by
 * the equality alone where a column that the position begins with is also fixed to a value.
 */
const isWalked = ({ "Index Cond": condition = "" }: PlanNode): boolean => {
  const [, first] = /ROW\(([\w.]+)/.exec(condition) ?? []
  return first !== undefined && condition.includes(`(${first} = `)
}

/** Pages from an index's root to the first entry, with some to spare. */
const MOST_TO_ENTER = 20

const blocksOf = (node: PlanNode): number =>
  (node["Shared Hit Blocks"] ?? 0) + (node["Shared Read Blocks"] ?? 0)

/**
 * The same by pages read: more than those of the page's rows and of the index above them. A condition
 * that looks each row up elsewhere has pages that count there.
 */
const readsAway = (node: PlanNode): boolean =>
  node["Index Cond"] !== undefined &&
  node["Actual Loops"] === 1 &&
  blocksOf(node) - (node.Plans ?? []).reduce((sum, below) => sum + blocksOf(below), 0) >
    rowsOf(node) + MOST_TO_ENTER

/** `passed` is how many rows a page may pass over. */
const assertIndexed = (name: string, nodes: ReadonlyArray<PlanNode>, passed = 0): void => {
  const types = nodes.map((node) => node["Node Type"])
  assert.isTrue(
    types.every(
      (type) => !type.endsWith("Seq Scan") && !type.startsWith("Hash") && !type.startsWith("Merge Join"),
    ),
    `${name}: ${types.join()}`,
  )
  assert.isFalse(nodes.some(isWalked), name)
  if (passed === 0) assert.isFalse(nodes.some(readsAway), name)
  assert.isAtMost(rowsRead(nodes), MOST_ROWS + passed, name)
  assert.isAtMost(rowsSorted(nodes), MOST_SORTED + passed, name)
}

const pageOf = (query: AnyQuery, from: Position | undefined): PageStatement =>
  // Each query belongs to its own list.
  pageStatement({ ...query, from, isBackward: false, limit: LIMIT } as PageRequest<ListName>)

/** Past the end where a list has not as many rows: another statement all the same. */
const END = "\u{10ffff}"

const farOff = (query: AnyQuery): Position => ({
  values: orderColumns(query.list, query.sort as never).map(({ type }) =>
    type === "text" ? END : type === "bigint" ? 9_000_000_000_000_000_000n : 1_000_000_000,
  ),
  isInclusive: false,
})

class Seeded extends Context.Service<Seeded, { readonly sql: SqlClient.SqlClient; readonly run: RunSql }>()(
  "@tocsin/test/depth/Seeded",
) {}

const seeded = Layer.effect(
  Seeded,
  Effect.gen(function* () {
    const { replica, url } = yield* ScratchPostgres
    yield* Effect.promise(() =>
      seedPostgres(Redacted.value(url), { size, now: start, report: () => undefined }),
    )
    const { sql } = yield* replica({ ...PATIENCE, maxConnections: 1, settings: { jit: "off" } })
    const run: RunSql = (text) => Effect.runPromise(sql.unsafe<Record<string, unknown>>(text).unprepared)
    for (const text of [...storm, "VACUUM (ANALYZE)"]) yield* Effect.promise(() => run(text))
    return { sql, run }
  }),
).pipe(Layer.provide(ScratchPostgres.layer))

/** The table has a few more checks: those of agents that are gone. */
const MOST_SEARCHED = 1.05

const SERVER = "00000000-0000-4000-8000-000000000000"
const MODES = ["force_custom_plan", "force_generic_plan"] as const

layer(seeded, { timeout: "10 minutes" })("a page of any list, in a database of many rows", (it) => {
  for (const half of HALVES) {
    const mode = MODES[half]
    it.effect(`is read from indexes, on the first and on a deep page: ${mode}`, () =>
      Effect.gen(function* () {
        const { sql, run } = yield* Seeded
        yield* sql.unsafe(`SET plan_cache_mode = ${mode}`).unprepared
        for (const query of queriesOf(half)) {
          const deep = yield* Effect.promise(() => deepPosition(run, query, 1_000))
          const passed = isOfOpen(query) ? MOST_OPEN_OF_A_CHECK : 0
          for (const from of [undefined, deep ?? farOff(query)]) {
            assertIndexed(nameOf(query), yield* explain(sql, pageOf(query, from)), passed)
          }
        }
      }),
    )
  }

  it.effect("rows due at one moment are found in their order by an index", () =>
    Effect.gen(function* () {
      const { run, sql } = yield* Seeded
      const now = start
      const rows = yield* Effect.promise(() =>
        run("SELECT receiver FROM outbox WHERE next_attempt_at = 1 AND state = 'pending' LIMIT 1"),
      )
      const receivers = rows.map(({ receiver }) => receiver)
      const searches = {
        lockClaimableOutbox: { text: lockClaimableOutbox, values: [receivers, now, LIMIT] },
        findHeldOutbox: { text: findHeldOutbox, values: [now, LIMIT, receivers] },
        findDueIncidents: { text: findDueIncidents, values: [now, LIMIT] },
        lockClaimableAlerts: { text: lockClaimableAlerts.text, values: [now, now, LIMIT, "alert_router"] },
      }
      for (const mode of MODES) {
        yield* sql.unsafe(`SET plan_cache_mode = ${mode}`).unprepared
        for (const [name, search] of Object.entries(searches)) {
          const nodes = yield* explain(sql, search)
          assert.isAtLeast(Math.max(...nodes.map((node) => node["Actual Rows"] ?? 0)), LIMIT, name)
          assertIndexed(name, nodes)
        }
      }
    }),
  )

  it.effect(
    "the numbers of a check are found by indexes, beside those of all others, also without statistics",
    () =>
      Effect.gen(function* () {
        const { run, sql } = yield* Seeded
        for (const text of [
          "ALTER TABLE number_series SET (autovacuum_enabled = off)",
          "ALTER TABLE number_part SET (autovacuum_enabled = off)",
          `WITH series AS (
          INSERT INTO number_series (agent_id, registration_id, check_id, name, unit, newest)
          SELECT agent_id, registration_id, check_id, 'duration', 's', 0 FROM check_state LIMIT 1000 RETURNING id)
        INSERT INTO number_part SELECT 0, start, id, '${SERVER}', '' FROM series, generate_series(0, 9) AS start`,
        ])
          yield* Effect.promise(() => run(text))
        const [check] = yield* Effect.promise(() =>
          run("SELECT id, registration_id, check_id FROM number_series LIMIT 1"),
        )
        const of = [check?.["registration_id"], check?.["check_id"]]
        const own = [
          SERVER,
          [0, 0],
          [1, 2],
          ...of.map((one) => [one, one]),
          ["duration", "duration"],
          ["s", "s"],
        ]
        for (const analyze of [undefined, "ANALYZE number_series, number_part"]) {
          if (analyze !== undefined) yield* Effect.promise(() => run(analyze))
          for (const mode of MODES) {
            const name = `${mode} ${analyze ?? "without statistics"}`
            yield* sql.unsafe(`SET plan_cache_mode = ${mode}`).unprepared
            assertIndexed(name, yield* explain(sql, { text: findSeriesOf, values: of }))
            const nodes = yield* explain(sql, { text: findParts, values: [...of, "duration", 0, [1, 2]] })
            assertIndexed(name, nodes)
            assert.isAtMost(rowsRead(nodes), 1 + 2, name)
            assertIndexed(name, yield* explain(sql, { text: findOwn, values: own }))
            const ids = [check?.["id"]]
            assertIndexed(name, yield* explain(sql, { text: lockParts, values: [[0, 0], [1, 2], ids] }))
            const gone = [[SERVER], [0], [1], ids]
            assertIndexed(name, yield* explain(sql, { text: removeParts, values: gone }))
          }
        }
      }),
  )

  it.effect("a search that finds nothing passes through each check once", () =>
    Effect.gen(function* () {
      const { sql } = yield* Seeded
      yield* sql.unsafe("SET plan_cache_mode = auto").unprepared
      const order = { list: "checks", sort: "agent_id", direction: "asc" } as const
      for (const status of [undefined, "not_ok"] as const) {
        const nodes = yield* explain(
          sql,
          pageOf({ ...order, filter: { search: "nothing", status } }, undefined),
        )
        const ofChecks = nodes.filter((node) => node["Relation Name"] === "check_state")
        assert.isAtMost(rowsRead(ofChecks), MOST_SEARCHED * size.checks)
        assert.isAtMost(rowsSorted(nodes), MOST_SEARCHED * size.checks)
      }
    }),
  )

  it.effect("metricCounts scans no table", () =>
    Effect.gen(function* () {
      const { sql } = yield* Seeded
      yield* sql.unsafe("SET plan_cache_mode = auto").unprepared
      for (const statement of [
        { text: findMetricCounts, values: [] },
        { text: findLate, values: [] },
        findBacklog,
      ]) {
        const passes = (yield* explain(sql, statement)).filter(
          (node) => node["Node Type"].endsWith("Seq Scan") && node["Relation Name"] !== "system_total",
        )
        assert.deepStrictEqual(passes, [])
      }
    }),
  )

  it.effect("is reported without its index", () =>
    Effect.gen(function* () {
      const { sql } = yield* Seeded
      const bySummary = { text: "SELECT * FROM incident ORDER BY summary LIMIT 10", values: [] }
      const nodes = yield* explain(sql, bySummary)
      assert.throws(() => assertIndexed("by summary", nodes))
      const inverse = yield* explain(sql, {
        text: "SELECT * FROM incident WHERE severity_rank = 1 ORDER BY opened_at LIMIT 10",
        values: [],
      })
      assert.throws(() => assertIndexed("by opened_at", inverse))
      const walked = yield* explain(sql, {
        text: `SELECT * FROM incident
               WHERE phase = 0 AND (phase, severity_rank) < (0, 3)
               ORDER BY phase DESC, severity_rank DESC LIMIT 10`,
        values: [],
      })
      assert.throws(() => assertIndexed("by a fixed column", walked))
    }),
  )
})

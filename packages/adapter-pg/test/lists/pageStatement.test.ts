import type { SortValue } from "@tocsin/core/kernel/model/ListPlan"
import {
  type ListFilters,
  type ListName,
  sortsOf,
  orderColumns,
  type PageRequest,
} from "@tocsin/core/lists/ListDefinitions"
import * as Instant from "@tocsin/contract/formats/Instant"
import { assert, layer } from "@effect/vitest"
import {
  IncidentState,
  NotificationType,
  NotifierKind,
  OutboxState,
  Severity,
} from "@tocsin/contract/formats/Status"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { rowsRead } from "@tocsin/test/postgres/planNodes"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { pageStatement } from "../../src/lists/pageStatement.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { explain } from "./explain.ts"
import { AGENTS, populateStatistics, ROWS } from "./populateStatistics.ts"

const LIMIT = 10

/**
 * The rows that a page may read: from each range of an index that is merged, its rows and some
 * beyond; and to each row the agent that makes it valid, every tenth of which is gone. A hundredth
 * of the table at most.
 */
const BOUND = ROWS / 100

/** The rows of one agent or check, when a list is searched through memberships. */
const MATCHES = Math.max(ROWS / AGENTS, AGENTS) * 2

const maybe = <A>(values: ReadonlyArray<A>): ReadonlyArray<A | undefined> => [undefined, ...values]

const incidentFilters = maybe(IncidentState.literals).flatMap((state) =>
  maybe(Severity.literals).map((severity) => ({ state, severity })),
)

/** All filters of each list that can be filtered. */
const filters: { readonly [L in ListName]?: ReadonlyArray<ListFilters[L]> } = {
  audit: maybe(["ann"]).flatMap((actor) =>
    maybe(["agent.accepted" as const]).flatMap((action) =>
      maybe(["web"]).flatMap((subject) =>
        maybe([Instant.fromMicros(4_000n)]).map((from) => ({
          actor,
          action,
          subject,
          from,
          to: from && Instant.fromMicros(6_000n),
        })),
      ),
    ),
  ),
  checks: maybe([AgentId.make("agent-7")]).map((agent_id) => ({ agent_id })),
  overdue: maybe([AgentId.make("agent-7")]).flatMap((agent_id) =>
    maybe(["not_ok", "critical"] as const).map((status) => ({ agent_id, status })),
  ),
  history: maybe([AgentId.make("agent-7")]).flatMap((agent_id) =>
    maybe([CheckId.make("check-3"), CheckId.make("rare")]).map((check_id) => ({ agent_id, check_id })),
  ),
  incidents: [...incidentFilters, { acknowledged: true }, { acknowledged: false, state: "open" }],
  outbox: [
    ...maybe(OutboxState.literals).flatMap((state) =>
      maybe(NotifierKind.literals).flatMap((notifier) =>
        maybe(NotificationType.literals).map((event_type) => ({ state, notifier, event_type })),
      ),
    ),
    { held: true },
    { held: false },
  ],
}

/** Somewhere in the middle of each order's values. */
const MIDDLE: Readonly<Record<string, SortValue>> = {
  agent_id: "agent-5",
  check_id: "check-5",
  seq: ROWS / 2,
  state_rank: 0,
  severity_rank: 3,
  opened_at: 5_000n,
  resolved_order: 5_000n,
  created_at: 5_000n,
  updated_at: 5_000n,
  recorded_at: 5_000n,
  blocked_at: 5_000n,
  blacklist_id: "8",
  id: "8",
}

/** Every page of a list that differs in more than its depth: by filter, sort, direction, first or in the middle. */
const requests = <L extends ListName>(
  list: L,
  narrowed: ReadonlyArray<ListFilters[L]>,
): ReadonlyArray<PageRequest<L>> => {
  // The keys of the list's own orders.
  const sorts = sortsOf(list)
  return narrowed.flatMap((filter) =>
    sorts.flatMap((sort) => {
      const values = orderColumns(list, sort).map(({ name }) => MIDDLE[name] ?? "")
      return (["asc", "desc"] as const).flatMap((direction) =>
        [undefined, { values, isInclusive: false }].map((from) => ({
          list,
          filter,
          sort,
          direction,
          from,
          isBackward: false,
          limit: LIMIT,
        })),
      )
    }),
  )
}

const populated = Layer.effect(
  SqlClient.SqlClient,
  Effect.gen(function* () {
    // It reads whole tables, on a busy machine too.
    const { sql } = yield* (yield* ScratchPostgres).replica({ replyTimeout: "1 minute" })
    yield* migrate(sql)
    yield* populateStatistics(sql)
    return sql
  }),
).pipe(Layer.provide(ScratchPostgres.layer))

layer(populated, { timeout: "10 minutes" })("a page is read by an index", (it) => {
  const read = Effect.fnUntraced(function* <L extends ListName>(request: PageRequest<L>) {
    const nodes = yield* explain(yield* SqlClient.SqlClient, pageStatement(request))
    const name = JSON.stringify(request, (_, value: unknown) =>
      typeof value === "bigint" ? `${value}` : value,
    )
    return { nodes, name }
  })

  const each = <L extends ListName>(list: L) =>
    it.effect(`${list}: whatever the filter, sort, direction and depth`, () =>
      Effect.forEach(requests(list, filters[list] ?? [{}]), (request) =>
        Effect.map(read(request), ({ name, nodes }) => {
          assert.isAtMost(rowsRead(nodes), BOUND, name)
          assert.notInclude(
            nodes.map((node) => node["Node Type"]),
            "Seq Scan",
            name,
          )
        }),
      ),
    )

  each("agents")
  each("blacklist")
  each("checks")
  each("history")
  each("incidents")
  each("outbox")
  each("audit")

  it.effect("incidents of an agent or a check: reads those, and sorts them", () =>
    Effect.forEach(
      [
        { agent_id: AgentId.make("agent-7") },
        { check_id: CheckId.make("check-3") },
        { agent_id: AgentId.make("agent-7"), check_id: CheckId.make("check-3") },
      ].flatMap((member) =>
        requests(
          "incidents",
          incidentFilters.map((filter) => ({ ...filter, ...member })),
        ),
      ),
      (request) =>
        Effect.map(read(request), ({ name, nodes }) => {
          assert.isAtMost(rowsRead(nodes), MATCHES, name)
        }),
    ),
  )
})

layer(ScratchPostgres.layer)("the plan of a page", (it) => {
  it.effect("is not what makes the test pass: one that reads a table is seen", () =>
    Effect.gen(function* () {
      const services = yield* Layer.build(populated)
      const sql = Context.get(services, SqlClient.SqlClient)
      const nodes = yield* explain(sql, {
        text: "SELECT * FROM incident ORDER BY summary LIMIT 1",
        values: [],
      })
      assert.include(
        nodes.map((node) => node["Node Type"]),
        "Seq Scan",
      )
      assert.isAtLeast(rowsRead(nodes), ROWS)
    }),
  )
})

import type { SortValue } from "@tocsin/core/kernel/model/ListPlan"
import type { ListFilters, ListName, ListSort, PageRequest } from "@tocsin/core/lists/ListDefinitions"
import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { MemoryTables } from "../src/MemoryTables.ts"
import { readRows } from "../src/readRows.ts"
import { forAll } from "@tocsin/testing/forAll"
import { agentRecord, checkRecord, incidentRecord, outboxRecord } from "@tocsin/testing/records"
import { Effect } from "effect"
import * as fc from "fast-check"
import { allRows, expectedPage, placeIn } from "./listModel.ts"
import {
  agentName,
  CHECKS,
  checkName,
  moment,
  outboxState,
  severity,
  type TableChange,
  tableChange,
} from "./tableChanges.ts"

const maybe = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined })
const agent_id = maybe(agentName.map((name) => AgentId.make(name)))
const check_id = maybe(checkName.map((name) => CheckId.make(name)))

/** The lists that can be filtered. */
const filters: { readonly [L in ListName]?: fc.Arbitrary<ListFilters[L]> } = {
  checks: fc.record({ agent_id }),
  overdue: fc.record({ agent_id }),
  history: fc.record({ agent_id, check_id }),
  incidents: fc.record({
    state: maybe(fc.constantFrom("open", "resolved")),
    severity: maybe(severity),
    acknowledged: maybe(fc.boolean()),
    agent_id: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: agent_id }),
    check_id: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: check_id }),
  }),
  outbox: fc.record({
    state: maybe(outboxState),
    notifier: maybe(fc.constantFrom("debug", "webhook")),
    event_type: maybe(fc.constantFrom("firing", "resolved")),
    held: maybe(fc.boolean()),
  }),
  audit: fc.record({
    actor: maybe(agentName),
    subject: maybe(agentName),
    from: maybe(moment),
    to: maybe(moment),
  }),
  silences: fc.record({ state: maybe(fc.constantFrom("active", "expired", "scheduled")), at: maybe(moment) }),
}

const filterOf = <L extends ListName>(list: L): fc.Arbitrary<ListFilters[L]> =>
  filters[list] ?? fc.constant<ListFilters[L]>({})

/** A cursor: at a row of the list, which its filter may leave out, or where a row once was. */
const cursor = fc.record({ of: fc.nat(), isInclusive: fc.boolean(), isKept: fc.boolean() })

/** Reads a page and compares it. Its cursors may come from pages that were read before. */
type Look = (tables: MemoryTables, places: Map<string, ReadonlyArray<SortValue>>) => void

const lookAt = <L extends ListName>(list: L, ...sorts: ReadonlyArray<ListSort<L>>): fc.Arbitrary<Look> =>
  fc
    .record({
      sort: fc.constantFrom(...sorts),
      filter: filterOf(list),
      direction: fc.constantFrom("asc", "desc"),
      isBackward: fc.boolean(),
      limit: fc.integer({ min: 1, max: 8 }),
      cursor: maybe(cursor),
    })
    .map(({ cursor: at, ...query }) => (tables, places) => {
      const rows = allRows<L>(tables, { list, filter: {} })
      const row = at && rows[at.of % rows.length]
      const name = `${list} ${query.sort}`
      const kept = at?.isKept === true ? places.get(name) : undefined
      const values = kept ?? (row && placeIn<L>({ list, sort: query.sort }, row))
      if (values !== undefined) places.set(name, values)
      const request: PageRequest<L> = {
        list,
        ...query,
        from: at && values && { values, isInclusive: at.isInclusive },
      }
      assert.deepStrictEqual<unknown>(
        readRows(tables, request),
        expectedPage(tables, request),
        JSON.stringify(request, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value)),
      )
    })

const look = fc.oneof(
  lookAt("agents", "agent_id"),
  lookAt("checks", "agent_id"),
  lookAt("overdue", "agent_id"),
  lookAt("history", "stored"),
  { weight: 4, arbitrary: lookAt("incidents", "status", "opened_at", "resolved_at") },
  { weight: 2, arbitrary: lookAt("outbox", "created_at", "updated_at") },
  lookAt("blacklist", "stored"),
  lookAt("integrations", "name"),
  lookAt("enrolments", "created_at"),
  lookAt("watches", "name"),
  lookAt("operators", "name"),
  lookAt("audit", "recorded_at"),
  lookAt("silences", "created_at"),
)

interface Scenario {
  readonly first: ReadonlyArray<TableChange>
  readonly steps: ReadonlyArray<{
    readonly changes: ReadonlyArray<TableChange>
    readonly looks: ReadonlyArray<Look>
  }>
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  first: fc.array(tableChange, { maxLength: 200, size: "max" }),
  steps: fc.array(
    fc.record({
      changes: fc.array(tableChange, { maxLength: 3, size: "max" }),
      looks: fc.array(look, { maxLength: 4, size: "max" }),
    }),
    { maxLength: 40, size: "max" },
  ),
})

/** Rows that most filters leave out. */
const many = (): MemoryTables => {
  const tables = new MemoryTables()
  for (let n = 0; n < 3_000; n += 1) {
    const [opened_at, resolved_at] = [Instant.fromMicros(BigInt(n % 7)), Instant.fromMicros(BigInt(n % 4))]
    const incident = incidentRecord(`many ${n}`, { state: "resolved", opened_at, resolved_at })
    const item = outboxRecord(`many ${n}`, `many ${n}`, { state: "sent", created_at: opened_at })
    tables.incidents.set(incident.id, incident)
    tables.keyed.outbox.set(item.id, item)
  }
  return tables
}

const follow = (tables: MemoryTables, { first, steps }: Scenario) => {
  const places = new Map<string, ReadonlyArray<SortValue>>()
  for (const change of first) change(tables)
  for (const { changes, looks } of steps) {
    for (const change of changes) change(tables)
    for (const one of looks) one(tables, places)
  }
}

const FIRST_ROW = { filter: {}, direction: "asc", from: undefined, isBackward: false, limit: 1 } as const

describe("pages of lists in memory", () => {
  it.effect("are what filtering and sorting all rows gives, whatever changes between them", () =>
    forAll(scenario, { runs: 300 }, (one) => Effect.sync(() => follow(new MemoryTables(), one))),
  )

  it.effect("are the same where few of many rows pass", () =>
    forAll(scenario, { runs: 5 }, (one) => Effect.sync(() => follow(many(), one))),
  )

  it("are the same where many rows pass, but none of the first ones", () => {
    const tables = many()
    const rows = Array.from(tables.keyed.outbox.values())
    for (const [n, row] of rows.entries())
      tables.keyed.outbox.set(row.id, {
        ...row,
        created_at: Instant.fromMicros(BigInt(n)),
        state: n < 1_200 ? "failed" : "sent",
      })
    const page = readRows(tables, {
      ...FIRST_ROW,
      list: "outbox",
      sort: "created_at",
      filter: { state: "sent" },
      limit: 3,
    })
    assert.deepStrictEqual(
      page.map(({ created_at }) => created_at),
      [1_200n, 1_201n, 1_202n].map(Instant.fromMicros),
    )
  })

  it("show the checks of one agent in their order", () => {
    const tables = new MemoryTables()
    const agent = agentRecord("a")
    tables.agents.set(agent.agent_id, agent)
    for (const one of [agent, agentRecord("b")])
      for (const check of CHECKS) tables.checks.put(checkRecord(one, check))
    const page = readRows(tables, {
      ...FIRST_ROW,
      list: "checks",
      sort: "agent_id",
      filter: { agent_id: agent.agent_id },
      limit: 100,
    })
    assert.deepStrictEqual(
      page.map(({ check_id }) => check_id),
      CHECKS.toSorted().map((check) => CheckId.make(check)),
    )
  })
})

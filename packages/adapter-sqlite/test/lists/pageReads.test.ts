import {
  type ListFilters,
  listNames,
  type ListName,
  sortsOf,
  type ListQuery,
  orderColumns,
  type PageRequest,
  type Position,
} from "@tocsin/core/lists/ListDefinitions"
import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { isAcknowledged } from "@tocsin/core/heart/model/Acknowledgement"
import { NotifierKind, SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import { incidentRecord } from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import { Effect } from "effect"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { pageStatements } from "../../src/lists/pageReads.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { openStorage, scratchFile } from "../ScratchFile.ts"
import { transact } from "@tocsin/testing/transact"

/** One value for each thing that a list can be filtered by. */
const filterValues: { readonly [L in ListName]?: Required<ListFilters[L]> } = {
  checks: { agent_id: AgentId.make("a"), status: "critical", state: "critical", search: "disk" },
  overdue: {
    agent_id: AgentId.make("a"),
    status: "critical",
    state: "critical",
    search: "disk",
    neverReported: true,
  },
  history: { agent_id: AgentId.make("a"), check_id: CheckId.make("c") },
  incidents: {
    state: "open",
    severity: "unknown",
    agent_id: AgentId.make("a"),
    check_id: CheckId.make("c"),
    acknowledged: true,
    at: Instant.fromMicros(start + 2n),
    from: Instant.fromMicros(1n),
    to: Instant.fromMicros(9n),
  },
  outbox: { state: "retry", notifier: "webhook", event_type: "firing", held: true },
  audit: {
    actor: "ann",
    action: "agent.accepted",
    subject: "web-1",
    from: Instant.fromMicros(1n),
    to: Instant.fromMicros(9n),
  },
  silences: { state: "active", at: Instant.fromMicros(5n) },
}

/** Every set of filters of a list. */
const filtersOf = <L extends ListName>(list: L): ReadonlyArray<ListFilters[L]> =>
  Object.entries(filterValues[list] ?? {}).reduce<ReadonlyArray<object>>(
    (filters, [name, value]) => filters.flatMap((filter) => [filter, { ...filter, [name]: value }]),
    [{}],
    // The fields of a list's filters, each there or not: what ListFilters allows.
  ) as ReadonlyArray<ListFilters[L]>

const queriesOf = <L extends ListName>(list: L): ReadonlyArray<ListQuery<L>> =>
  // The keys of a list's orders are its sorts; Object.keys does not say so.
  sortsOf(list).flatMap((sort) =>
    filtersOf(list).flatMap((filter) =>
      // A list between two times is in the order of time.
      sort === "status" && ("from" in filter || "to" in filter)
        ? []
        : (["asc", "desc"] as const).map((direction) => ({ list, filter, sort, direction })),
    ),
  )

/** A position in an order, at a row that `filterValues` leaves. */
const positionIn = <L extends ListName>({ list, sort }: ListQuery<L>): Position => ({
  values: orderColumns(list, sort).map(({ name, type }) =>
    type === "text" ? "a" : type === "bigint" ? 5n : name === "severity_rank" ? SEVERITY_RANK.unknown : 1,
  ),
  isInclusive: false,
})

const planOf = <L extends ListName>(
  connection: SqliteConnection,
  request: PageRequest<L>,
): ReadonlyArray<string> => {
  const statements = pageStatements(request, { notifiers: NotifierKind.literals })
  return statements.flatMap(({ sql, values }) => {
    const rows = connection.query<[bigint, bigint, bigint, string]>(`EXPLAIN QUERY PLAN ${sql}`)
    return rows.all(...values).map(([, , , detail]) => detail)
  })
}

const isByMember = (filter: object): boolean => "agent_id" in filter || "check_id" in filter

/** Checks that are found by words, a state or a status: a scan in order, of all of them or of the few that are not ok or late. */
const isFound = (filter: object): boolean =>
  ["search", "state", "status", "neverReported"].some((name) => name in filter)

/** A notification that failed is not held. */
const matchesNothing = (filter: object): boolean =>
  "held" in filter && filter.held === true && "state" in filter && filter.state !== "pending"

/** Reads few rows, which are sorted: busy or open incidents of one agent or check, silences, and what is being sent. */
const SORTED =
  /^(?:SEARCH b |SEARCH r USING (?:COVERING )?INDEX incident_open_of_(?:agent|check)|SEARCH r USING INDEX silence_by_end|SCAN r USING INDEX (?:silence_by_created|outbox_leased))/

describe("plans of list pages", () => {
  const lists = listNames

  it.each(lists)(
    "%s: an index finds the page and holds its order, whatever the filter, sort and direction",
    (list) => {
      const connection = SqliteConnection.open(IN_MEMORY)
      migrate(connection, start)
      for (const query of queriesOf(list)) {
        for (const isBackward of [false, true]) {
          const plan = planOf(connection, { ...query, from: positionIn(query), isBackward, limit: 100 })
          const first = planOf(connection, { ...query, from: undefined, isBackward, limit: 100 })
          const name = JSON.stringify(query, (_, value) => (typeof value === "bigint" ? `${value}` : value))
          if (matchesNothing(query.filter)) {
            assert.deepStrictEqual([...plan, ...first], [], name)
            continue
          }
          assert.isAbove(plan.length, 0, name)
          // Without a position the page is at an end of the index: a scan that stops after as many rows as are asked for.
          const isAtEnd = Object.keys(query.filter).length === 0 || isFound(query.filter)
          const scans = isAtEnd ? plan : [...plan, ...first]
          assert.isFalse(
            scans.some((line) => line.startsWith("SCAN") && line !== "SCAN page" && !SORTED.test(line)),
            `${name}: ${scans}`,
          )
          const sorted = [...plan, ...first].filter((line) => line.includes("TEMP B-TREE"))
          const few = [...plan, ...first].filter((line) => SORTED.test(line))
          assert.isAtMost(sorted.length, few.length, `${name}: ${plan}`)
        }
      }
    },
  )
})

it("a page of what waits and is not held reads no held notification", () => {
  const connection = SqliteConnection.open(IN_MEMORY)
  migrate(connection, start)
  for (const kind of [{}, { notifier: "webhook" }, { notifier: "webhook", event_type: "firing" }] as const) {
    for (const isBackward of [false, true]) {
      const query: ListQuery<"outbox"> = {
        list: "outbox",
        filter: { state: "pending", held: false, ...kind },
        sort: "created_at",
        direction: "asc",
      }
      for (const from of [undefined, positionIn(query)]) {
        const plan = planOf(connection, { ...query, from, isBackward, limit: 100 })
        const reads = plan.filter((line) => /^(?:SEARCH|SCAN)/.test(line))
        assert.isAbove(reads.length, 0)
        for (const line of reads)
          assert.match(
            line,
            /^SEARCH r USING (?:INDEX outbox_by_created_at \(listed_state=\?|PRIMARY KEY \(id=\?\))|^SCAN page$/,
          )
        assert.isFalse(plan.some((line) => line.includes("TEMP B-TREE")))
      }
    }
  }
})

it("a page of merged ranges passes on keys alone, and reads each other column once", () => {
  for (const sort of ["created_at", "updated_at"] as const) {
    const query = {
      list: "outbox",
      filter: {},
      sort,
      direction: "asc",
      isBackward: false,
      limit: 100,
    } as const
    const [merged] = pageStatements({ ...query, from: undefined }, { notifiers: NotifierKind.literals })
    const named = (text: string) => (merged?.sql.split(text).length ?? 0) - 1
    assert.isAbove(named("UNION ALL"), 40)
    for (const column of ["r.summary", "r.last_error"]) assert.strictEqual(named(column), 1)
  }
})

const SEVERITIES = ["warning", "unknown", "critical"] as const

/** Incidents of every state and severity, many of them opened or resolved at the same moment. */
const population: ReadonlyArray<IncidentRecord> = Array.from({ length: 48 }, (_, n) => {
  const moment = Instant.fromMicros(start + BigInt((n * 7) % 5))
  const severity = SEVERITIES[n % 3] ?? "warning"
  return n % 4 === 0
    ? incidentRecord(`i${n}`, { severity, opened_at: moment, ...(n % 8 === 0 && { ack_until: moment }) })
    : incidentRecord(`i${n}`, { severity, opened_at: moment, state: "resolved", resolved_at: moment })
})

const compare = (a: Position["values"], b: Position["values"]): number => {
  for (const [index, value] of a.entries()) {
    const other = b[index]
    if (other !== undefined && value !== other) return value < other ? -1 : 1
  }
  return 0
}

/** The page by the words of PageRequest, from all rows. */
const expected = (request: PageRequest<"incidents">): ReadonlyArray<string> => {
  const { filter, from } = request
  const columns = orderColumns("incidents", request.sort)
  const valuesOf = (row: IncidentRecord) => columns.map((column) => column.of(row))
  const sign = (request.direction === "asc") === request.isBackward ? -1 : 1
  return population
    .filter((row) => filter.state === undefined || row.state === filter.state)
    .filter((row) => filter.severity === undefined || row.severity === filter.severity)
    .filter(
      (row) => filter.acknowledged === undefined || isAcknowledged(row, filter.at) === filter.acknowledged,
    )
    .filter((row) => {
      const order = from === undefined ? 1 : sign * compare(valuesOf(row), from.values)
      return order > 0 || (order === 0 && from?.isInclusive === true)
    })
    .toSorted((a, b) => sign * compare(valuesOf(a), valuesOf(b)))
    .slice(0, request.limit)
    .map((row) => row.id)
}

describe("pages of partitioned lists", () => {
  it.effect("start at any position, also at one of a row that the filter leaves out", () =>
    Effect.gen(function* () {
      const storage = yield* openStorage(yield* scratchFile)
      // oxlint-disable-next-line eslint/require-yield -- it has to see nothing
      yield* transact(storage, function* (unit) {
        for (const row of population) unit.incidents.put(row)
      })
      const queries = queriesOf("incidents").filter(
        ({ filter }) => !isByMember(filter) && !("from" in filter || "to" in filter),
      )
      for (const query of queries) {
        for (const [n, row] of population.entries()) {
          const values = orderColumns("incidents", query.sort).map((column) => column.of(row))
          for (const isBackward of [false, true]) {
            const from = { values, isInclusive: n % 2 === 0 }
            const request = { ...query, from, isBackward, limit: 7 }
            const found = yield* storage.page(request)
            assert.deepStrictEqual(
              found.map((one) => `${one.id}`),
              expected(request),
            )
          }
        }
      }
    }),
  )
})

import { assert, describe, it, layer } from "@effect/vitest"
import type { ListFilters } from "@tocsin/core/lists/ListDefinitions"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Context, Effect, Layer } from "effect"
import { isAcknowledgedAt } from "./acknowledgedFilters.ts"
import { checksAreFound, overdueChecksAreFound } from "./foundChecks.ts"
import { a, b, cpu, DIRECTIONS, disk, incidentLists } from "./incidentLists.ts"
import { populate, population } from "./population.ts"
import { openReplica, type Replica } from "../Replica.ts"
import { incidentRecord, outboxRecord, write } from "../records.ts"
import { rowsOf } from "../rowsOf.ts"
import { enroll, eventOf, send, start } from "../samples.ts"
import type { StorageUnderTest } from "../StorageUnderTest.ts"

type Value = string | number | bigint

/** Ascending by the first value that differs; text by its bytes, which for these names is by its code units. */
const by =
  <Row>(...values: ReadonlyArray<(row: Row) => Value>) =>
  (a: Row, b: Row): number => {
    for (const of of values) {
      const [left, right] = [of(a), of(b)]
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  }

const directed = <Row>(
  rows: ReadonlyArray<Row>,
  order: (a: Row, b: Row) => number,
  direction: "asc" | "desc",
) => (direction === "asc" ? rows.toSorted(order) : rows.toSorted(order).toReversed())

const LATEST = 10n ** 30n

const INCIDENT_ORDERS = {
  status: by<(typeof population.incidents)[0]>(
    (row) => (row.state === "open" ? 1 : 0),
    (row) => ["warning", "unknown", "critical"].indexOf(row.severity),
    (row) => row.opened_at,
    (row) => row.id,
  ),
  opened_at: by<(typeof population.incidents)[0]>(
    (row) => row.opened_at,
    (row) => row.id,
  ),
  resolved_at: by<(typeof population.incidents)[0]>(
    (row) => row.resolved_at ?? LATEST,
    (row) => row.id,
  ),
}

const OUTBOX_ORDERS = {
  created_at: by<(typeof population.outbox)[0]>(
    (row) => row.created_at,
    (row) => row.id,
  ),
  updated_at: by<(typeof population.outbox)[0]>(
    (row) => row.updated_at,
    (row) => row.id,
  ),
}

const isBetween = (moment: bigint, { from, to }: ListFilters["incidents"]): boolean =>
  (from === undefined || moment >= from) && (to === undefined || moment < to)

const incidentsBy = (filter: ListFilters["incidents"], sort: keyof typeof INCIDENT_ORDERS) =>
  population.incidents.filter(
    (row) =>
      isBetween(sort === "resolved_at" ? (row.resolved_at ?? LATEST) : row.opened_at, filter) &&
      (filter.state ?? row.state) === row.state &&
      (filter.severity ?? row.severity) === row.severity &&
      (filter.acknowledged ?? isAcknowledgedAt(row, filter.at)) === isAcknowledgedAt(row, filter.at) &&
      population.members.some(
        (member) =>
          member.incident_id === row.id &&
          (filter.agent_id ?? member.agent_id) === member.agent_id &&
          (filter.check_id ?? member.check_id) === member.check_id,
      ),
  )

const outboxFilters: ReadonlyArray<ListFilters["outbox"]> = (
  [undefined, "pending", "sending", "sent", "retry", "failed", "discarded"] as const
)
  .flatMap((state) => ([undefined, "debug", "webhook"] as const).map((notifier) => ({ state, notifier })))
  .flatMap((filter) =>
    ([undefined, "firing", "resolved"] as const).map((event_type) => ({ ...filter, event_type })),
  )

const heldFilters: ReadonlyArray<ListFilters["outbox"]> = [true, false].flatMap((held) =>
  [{}, { state: "pending" as const }, { notifier: "debug" as const }].map((filter) => ({ ...filter, held })),
)

const outboxBy = (filter: ListFilters["outbox"]) =>
  population.outbox.filter(
    (row) =>
      (filter.state ?? row.state) === row.state &&
      (filter.notifier ?? row.notifier) === row.notifier &&
      (filter.event_type ?? row.event_type) === row.event_type &&
      (filter.held ?? row.next_evaluation_at !== undefined) === (row.next_evaluation_at !== undefined),
  )

/** The replica whose rows these tests read alone. */
class Populated extends Context.Service<Populated, Replica>()("@tocsin/testing/lists/listSuite/Populated") {}

const idsOf = <Id>(rows: ReadonlyArray<{ readonly id: Id }>): ReadonlyArray<Id> => rows.map(({ id }) => id)

const all = { from: undefined, isBackward: false, limit: 1_000 }

const textOf = ({ at, from, to, ...filter }: ListFilters["incidents"]) =>
  JSON.stringify({ ...filter, times: String([at, from, to]) })

const incidentsAreListed = Effect.fnUntraced(function* ({ storage }: Replica) {
  let found = 0
  for (const { filter, span, sort, direction } of incidentLists) {
    const query = { list: "incidents", filter: { ...filter, ...span }, sort, direction } as const
    const rows = yield* storage.page({ ...query, ...all })
    const expected = directed(incidentsBy(query.filter, sort), INCIDENT_ORDERS[sort], direction)
    assert.deepStrictEqual(idsOf(rows), idsOf(expected), `${sort} ${direction} ${textOf(query.filter)}`)
    found += rows.length
  }
  assert.isAbove(found, incidentLists.length / 4, "the filters find something")
})

const outboxIsListed = Effect.fnUntraced(function* ({ storage }: Replica) {
  for (const filter of [...outboxFilters, ...heldFilters]) {
    for (const sort of ["created_at", "updated_at"] as const) {
      for (const direction of DIRECTIONS) {
        const rows = yield* storage.page({ list: "outbox", filter, sort, direction, ...all })
        const expected = directed(outboxBy(filter), OUTBOX_ORDERS[sort], direction)
        assert.deepStrictEqual(idsOf(rows), idsOf(expected), `${sort} ${direction} ${JSON.stringify(filter)}`)
      }
    }
  }
})

const agentsAndChecksAreListed = Effect.fnUntraced(function* (replica: Replica) {
  const agents = yield* rowsOf(replica, "agents")
  assert.deepStrictEqual<unknown>(
    agents.map((row) => row.agent_id),
    ["10", "9", "A", "B", "Z", "_", "a", "a-1", "a.1", "a1", "a:1", "b"],
  )
  const order = by<(typeof population.checks)[0]>(
    (row) => row.agent_id,
    (row) => row.check_id,
  )
  for (const agent_id of [undefined, a, b, AgentId.make("nobody")]) {
    assert.deepStrictEqual(
      (yield* rowsOf(replica, "checks", { agent_id })).map((row) => `${row.agent_id}/${row.check_id}`),
      population.checks
        .filter((row) => (agent_id ?? row.agent_id) === row.agent_id)
        .toSorted(order)
        .map((row) => `${row.agent_id}/${row.check_id}`),
    )
  }
})

const historyIsListed = Effect.fnUntraced(function* (replica: Replica) {
  for (const agent_id of [undefined, b, AgentId.make("A"), AgentId.make("nobody")]) {
    for (const check_id of [undefined, disk, cpu, CheckId.make("none")]) {
      const rows = yield* rowsOf(replica, "history", { agent_id, check_id })
      const expected = population.history
        .filter(
          (row) => (agent_id ?? row.agent_id) === row.agent_id && (check_id ?? row.check_id) === row.check_id,
        )
        .toReversed()
      assert.deepStrictEqual(
        rows.map((row) => row.event_id),
        expected.map((row) => row.event_id),
      )
    }
  }
})

const blacklistIsListed = Effect.fnUntraced(function* (replica: Replica) {
  const order = by<(typeof population.blocked)[0]>(
    (row) => row.blocked_at,
    (row) => row.blacklist_id,
  )
  assert.deepStrictEqual(
    (yield* rowsOf(replica, "blacklist")).map((row) => row.blacklist_id),
    population.blocked
      .toSorted(order)
      .toReversed()
      .map((row) => row.blacklist_id),
  )
})

/** The rows that one transaction made, by the order in which its events came. */
const madeTogetherIsListed = Effect.fnUntraced(function* (replica: Replica) {
  yield* enroll(replica, "a")
  const names = Array.from({ length: 20 }, (_, n) => `check-${n}`)
  yield* send(
    replica,
    "a",
    names.map((check_id, n) => eventOf(n, { check_id })),
  )
  const { page } = replica.storage
  const first = { filter: {}, direction: "asc", ...all } as const
  const incidents = yield* page({ list: "incidents", sort: "opened_at", ...first })
  assert.deepStrictEqual<unknown>(
    incidents.map((row) => row.check_id),
    names,
  )
  const outbox = yield* page({ list: "outbox", sort: "created_at", ...first })
  assert.deepStrictEqual(
    outbox.map((row) => row.incident_id),
    idsOf(incidents),
  )
})

/** Programs bring notifiers: as many as these once had no place in one statement of SQLite. */
const MANY = 260

const manyNotifiersAreListed = Effect.fnUntraced(function* (replica: Replica) {
  const items = Array.from({ length: MANY }, (_, n) =>
    outboxRecord(`item ${n}`, "incident", {
      ...(n % 2 === 0 && { state: "sent", next_attempt_at: undefined }),
      notifier: `notifier-${n}`,
      created_at: Instant.fromMicros(start + BigInt((n * 7) % 50)),
    }),
  )
  yield* write(replica, [], (unit) => {
    unit.incidents.put(incidentRecord("incident"))
    for (const item of items) unit.outbox.put(item)
  })
  for (const filter of [{}, { state: "sent" as const }]) {
    for (const direction of DIRECTIONS) {
      const request = { list: "outbox", filter, sort: "created_at", direction } as const
      const found: Array<(typeof items)[0]> = []
      for (;;) {
        const last = found.at(-1)
        const from = last && { values: [last.created_at, last.id], isInclusive: false }
        const page = yield* replica.storage.page({ ...request, from, isBackward: false, limit: 100 })
        if (page.length === 0) break
        found.push(...page)
      }
      const wanted = items.filter(({ state }) => (filter.state ?? state) === state)
      const expected = directed(wanted, OUTBOX_ORDERS.created_at, direction)
      assert.deepStrictEqual(idsOf(found), idsOf(expected))
    }
  }
})

/**
 * The content and order of each list, by the words of docs/rules.md#incidents and
 * docs/rules.md#lists rather than by the core's tables.
 */
export const listSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("lists", () => {
    layer(Layer.effect(Populated, Effect.tap(openReplica(subject), populate)))((it) => {
      const test = (name: string, areListed: (replica: Replica) => Effect.Effect<void, unknown>) =>
        it.effect(name, () => Effect.flatMap(Populated, areListed))
      test("agents and checks in bytewise order", agentsAndChecksAreListed)
      test("checks by every status, word and agent", checksAreFound)
      test("overdue checks by every status, word and agent", overdueChecksAreFound)
      test("history, newest stored first, by agent and check", historyIsListed)
      test("blacklist, newest first", blacklistIsListed)
      test("incidents by every filter, sort and direction, and between two times", incidentsAreListed)
      test("outbox by every filter, sort and direction", outboxIsListed)
    })
    it.effect("incidents and notifications of one transaction, in order of creation", () =>
      Effect.flatMap(openReplica(subject), madeTogetherIsListed),
    )
    it.effect("outbox of hundreds of notifiers, page by page", () =>
      Effect.flatMap(openReplica(subject), manyNotifiersAreListed),
    )
  })
}

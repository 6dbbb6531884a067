import { layer } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { listTables, type ListName } from "@tocsin/core/lists/ListDefinitions"
import type { AnyShape, ColumnType } from "@tocsin/core/kernel/model/TableShape"
import { agedNames, agedTables } from "@tocsin/core/lists/retention/RetentionRules"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import {
  type Groups,
  type KeyedName,
  type KeyedRows,
  keyedNames,
  keyedShape,
  groupText,
  keyOf,
} from "@tocsin/core/lists/StoredTables"
import { Context, Effect, Layer } from "effect"
import * as fc from "fast-check"
import { assertSame } from "../assertSame.ts"
import { expireAll } from "../expireAll.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "../forAll.ts"
import { observe } from "../observe.ts"
import { write } from "../records.ts"
import { openReplica, type Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import type { StorageUnderTest } from "../StorageUnderTest.ts"
import { drawnRow, VALUES } from "./drawn.ts"
import { agentId } from "./values.ts"

const RUNS = 40

/** Tables whose values depend on each other: `agentRowSuite` and `incidentRowSuite` have their rows. */
const DEPENDENT: ReadonlyArray<KeyedName> = [
  "agent_key",
  "incident_member",
  "outbox",
  "alert",
  "service_heartbeat",
]

/** Values that find rows are names and positive numbers, as in all tables. */
const FINDING: Readonly<Partial<Record<ColumnType, fc.Arbitrary<unknown>>>> = {
  text: agentId,
  integer: fc.integer({ min: 1, max: 2_147_483_647 }),
}

/** Two rows of a table with the same key, in the same group. */
const rowsFor = <N extends KeyedName>(name: N) => {
  const { columns, group = [], key }: AnyShape = keyedShape(name)
  const fixed = new Set([...key, ...group])
  const row = drawnRow({ columns }, (name, { type }) =>
    fixed.has(name) ? (FINDING[type] ?? VALUES[type]) : undefined,
  )
  const rows = fc
    .tuple(row, row)
    .map(([first, second]) => [
      first,
      { ...second, ...Object.fromEntries(Array.from(fixed, (column) => [column, first[column]])) },
    ])
  // The columns are those of the record that is made of them.
  return rows as unknown as fc.Arbitrary<ReadonlyArray<KeyedRows[N]>>
}

/** The group of a row; `undefined` in a table without groups. */
const groupOf = <N extends KeyedName>(name: N, row: KeyedRows[N]): Groups[N] | undefined => {
  const { group }: AnyShape = keyedShape(name)
  if (group === undefined) return undefined
  const values = Object.fromEntries(group.map((column) => [column, Reflect.get(row, column)]))
  const [only = ""] = group
  // A group is named by its value, by its values, or as all.
  return (group.length === 0 ? "all" : group.length === 1 ? values[only] : values) as Groups[N]
}

/** The lists that show the rows of a table as they are. */
const listsOf = (name: KeyedName): ReadonlyArray<ListName> =>
  Object.entries(listTables).flatMap(([list, table]) =>
    // They are the names of these lists.
    table === name && list !== "overdue" ? [list as ListName] : [],
  )

/** The rule by which a row expires, with the moment from which on it does. `undefined` where none removes it. */
const endOf = <N extends KeyedName>(name: N, row: KeyedRows[N]) => {
  const rule = agedNames.find((one) => agedTables[one].table === name)
  // The column is an instant of the row, absent where it has not come.
  const before = rule && (Reflect.get(row, agedTables[rule].from) as Instant.Instant | undefined)
  return rule === undefined || before === undefined ? undefined : { rule, before }
}

const roundTrip = <N extends KeyedName>(replica: Replica, name: N) =>
  forAll(rowsFor(name), { runs: RUNS }, (rows) =>
    Effect.gen(function* () {
      for (const row of rows) {
        const [key, group] = [keyOf(name, row), groupOf(name, row)]
        const [label = groupText(name, row)] = keyedShape(name).groupsOf?.(row) ?? []
        const byKey: RowRequest = { rows: { [name]: [key] } }
        const byGroup: RowRequest = group === undefined ? byKey : { groups: { [name]: [group] } }
        const isFound = Effect.fnUntraced(function* (expected: ReadonlyArray<KeyedRows[N]>) {
          const [found] = expected
          assertSame(yield* observe(replica, [byKey], (unit) => unit.of(name).get(key)), found)
          assertSame(yield* replica.storage.rows(name, [key]), expected)
          const inGroup = yield* observe(replica, [byGroup], (unit) => unit.of(name).group(label))
          if (group !== undefined) assertSame(inGroup, expected)
          for (const list of listsOf(name)) assertSame(yield* rowsOf(replica, list), expected)
        })
        const put = write(replica, [byKey, byGroup], (unit) => unit.of(name).put(row))
        yield* put
        yield* isFound([row])
        if (row === rows[0]) continue
        yield* write(replica, [byKey, byGroup], (unit) => unit.of(name).delete(key))
        yield* isFound([])
        const aged = endOf(name, row)
        if (aged === undefined) continue
        yield* put
        yield* expireAll(replica.storage, { ...aged, limit: 1 })
        yield* isFound([row])
        yield* expireAll(replica.storage, { ...aged, before: Instant.fromMicros(aged.before + 1n), limit: 1 })
        yield* isFound([])
      }
    }),
  )

/** All tables share one, as each is empty again after its test: opening a storage takes longer than that. */
class Opened extends Context.Service<Opened, Replica>()("@tocsin/testing/rows/tableSuite/Opened") {}

/**
 * Every value that a table's declaration allows is read as it was written, by key, by group and in lists, until the row
 * is deleted or expires (docs/decisions/0024-table-shapes.md).
 */
export const tableSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  layer(Layer.effect(Opened, openReplica(subject)), { timeout: PROPERTY_TIMEOUT_MILLIS })(
    "rows are read as they were written, whatever their declaration allows",
    (it) => {
      for (const name of keyedNames.filter((one) => !DEPENDENT.includes(one)))
        it.effect(
          `those of ${name}`,
          () => Effect.flatMap(Opened, (replica) => roundTrip(replica, name)),
          PROPERTY_TIMEOUT_MILLIS,
        )
    },
  )
}
